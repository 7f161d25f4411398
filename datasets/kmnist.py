"""KMNIST: cursive hiragana."""

from datasets._mnist_family import MnistFamily


class Kmnist(MnistFamily):
    name = "kmnist"
    summary = "70,000 cursive Japanese characters of 28×28 pixels, 10 classes; closed"
    torchvision_name = "KMNIST"
    homepage = "http://codh.rois.ac.jp/kmnist"

    def class_names(self) -> tuple[str, ...]:
        return ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
