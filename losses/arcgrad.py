"""ArcGrad: softmax over angles instead of cosines."""

import math

from torch import Tensor

from losses import Head, radians, scale
from losses._angles import angle, unit
from losses._errors import InputError


class ArcGrad(Head):
    """ℓ_j = −s·θ_j for all classes: a soft margin, because the slope does not go to 0 near θ=0 as a cosine's does.

    Paper: ArcGrad, IJCNN 2020, doi 10.1109/IJCNN48605.2020.9207251.
    Good for: compact classes without a margin parameter. `s` is a number, "auto" (posterior 1/2 at 78° as for every
    loss), or one of two rules that need `gap`, the average angle by which the own class is nearer than another, in
    radians: "quoted", (W(C−1)+1)/gap, is the rule in the paper; "maximiser", (W((C−1)/e)+1)/gap, maximises the
    paper's gradient. W is Lambert's function.
    """

    name = "arcgrad"
    scale_on = "angle"

    s: float | str = scale(10.0, rules=("auto", "quoted", "maximiser"), meaning="scale of the angles, or a rule for it")
    gap: float | None = radians(None, above=True, high=math.pi, meaning="average angular gap for the rules, radians")

    def setup(self) -> None:
        rule = self.s
        if not isinstance(rule, str):
            return
        if self.gap is None:
            raise InputError(f'arcgrad: s="{rule}" needs gap=, the average angular gap in radians')
        others = self.num_classes - 1.0
        self.s = (lambert_w(others if rule == "quoted" else others / math.e) + 1.0) / self.gap

    def scores(self, embeddings: Tensor, weight: Tensor) -> Tensor:
        return -float(self.s) * angle(unit(embeddings) @ unit(weight).T)


def lambert_w(value: float) -> float:
    """The w ≥ 0 with w·e^w = value, for value ≥ 0, by Newton's method on w + ln w = ln value."""
    if value == 0.0:
        return 0.0
    w = math.log1p(value)
    for _ in range(50):
        step = w * (math.log(value) - math.log(w) - w) / (1.0 + w)
        w += step
        if abs(step) <= 1e-15 * w:
            break
    return w
