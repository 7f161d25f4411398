"""Parts made by hand."""

from perf._growth import growth
from perf._model import Curve, Measured, Part, at_least, at_most


def parts() -> list[Part]:
    speed = Part("speed", "Speed", "One against the other.", seconds=3.0, others=0.25)
    speed.measured = [
        Measured("ours / bound", "C=10", 1.2, "×", 1.1, 1.4, at_most(1.3)),
        Measured("theirs / ours", "C=10", 0.9, "×", 0.8, 1.0, at_least(1.0)),
        Measured("theirs / ours", "C=2", 0.9, "×", 0.8, 1.0, at_least(1.0), judged=False),
        Measured("difference", "C=10", 0.0, "", bar=at_most(1e-6)),
        Measured("ours", "C=10", 0.5, "s"),
    ]
    x, y = (1.0, 2.0, 4.0, 8.0), (3.0, 12.0, 48.0, 192.0)
    quadratic = Curve("growth", "it", "n", "s", x, y, growth(x, y), 2.0)
    grown = Part("growth", "Growth", "Sizes in turns.", curves=[quadratic])
    plain = Part("lines", "Lines", "Two.", curves=[Curve("two", name, "n", "MB", x, y) for name in ("a", "b")])
    return [speed, grown, plain]
