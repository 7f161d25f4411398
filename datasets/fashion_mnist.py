"""Fashion-MNIST: pieces of clothing."""

from pathlib import Path

from datasets._mnist_family import MnistFamily

DEBIAN = Path("/usr/share/datasets")  # where the package dataset-fashion-mnist puts the files


class FashionMnist(MnistFamily):
    name = "fashion_mnist"
    summary = "70,000 pieces of clothing of 28×28 pixels, 10 classes; closed"
    torchvision_name = "FashionMNIST"
    homepage = "https://github.com/zalandoresearch/fashion-mnist, or Debian's package dataset-fashion-mnist"

    def elsewhere(self) -> tuple[Path, ...]:
        found = {file.parent for file in DEBIAN.glob("**/*-images-idx3-ubyte*") if "fashion" in str(file.parent)}
        return (*sorted(found), DEBIAN)

    def class_names(self) -> tuple[str, ...]:
        names = "T-shirt/top, Trouser, Pullover, Dress, Coat, Sandal, Shirt, Sneaker, Bag, Ankle boot"
        return tuple(names.split(", "))
