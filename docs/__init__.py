"""The documentation. `make docs` builds it."""
