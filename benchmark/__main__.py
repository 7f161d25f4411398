"""`python -m benchmark`, installed also as `marginbench`."""

from benchmark.cli import main

if __name__ == "__main__":
    main()
