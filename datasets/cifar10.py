"""CIFAR-10."""

from datasets._cifar import Cifar


class Cifar10(Cifar):
    name = "cifar10"
    summary = "60,000 colour photographs of 32×32 pixels, 10 classes; closed"
    folder = "cifar-10-batches-bin"
    pickled_folder = "cifar-10-batches-py"
    archive = "cifar-10-binary.tar.gz"
    md5 = "c32a1d4ab5d03f1284b67883e8d87530"
    files = {"train": tuple(f"data_batch_{number}.bin" for number in range(1, 6)), "test": ("test_batch.bin",)}
    names_file = "batches.meta.txt"
    label_bytes = 1
    count = 10
