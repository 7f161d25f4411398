"""CIFAR-100, with its fine labels."""

from datasets._cifar import Cifar


class Cifar100(Cifar):
    name = "cifar100"
    summary = "60,000 colour photographs of 32×32 pixels, 100 classes; closed"
    folder = "cifar-100-binary"
    pickled_folder = "cifar-100-python"
    archive = "cifar-100-binary.tar.gz"
    md5 = "03b5dce01913d631647c71ecec9e9cb8"
    files = {"train": ("train.bin",), "test": ("test.bin",)}
    names_file = "fine_label_names.txt"
    label_bytes = 2  # the coarse label comes first
    count = 100
