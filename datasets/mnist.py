"""MNIST: handwritten digits."""

from datasets._mnist_family import MnistFamily


class Mnist(MnistFamily):
    name = "mnist"
    summary = "70,000 handwritten digits of 28×28 pixels; closed"
    torchvision_name = "MNIST"
    homepage = "https://github.com/cvdfoundation/mnist"
