"""The two curves of a loss over the angle, as SVG for the light and for the dark theme."""

import io
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

import losses
from benchmark.plots.loss_shapes import ANGLES, Shape, measure

CLASSES, DIM = 100, 64
LIGHT = {"ink": "#333333", "loss": "#0068b5", "baseline": "#8a8a8a"}
DARK = {"ink": "#d0d0d0", "loss": "#5ab0f5", "baseline": "#9a9a9a"}
THEMES = {"light": LIGHT, "dark": DARK}
QUANTITIES = {"logit": "target logit − logit of the others", "pull": "gradient ∂L/∂θ, per radian"}


def shapes_of(name: str) -> dict[str, Shape]:
    """The loss with its defaults, and normface at the same scale where there is one."""
    head = losses.create(name, num_classes=CLASSES, dim=DIM)
    scale = getattr(head, "s", 1.0)
    found = {name: measure(head)}
    if name != "normface" and head.is_cross_entropy and head.scale_on == "cosine":
        found["normface"] = measure(losses.create("normface", num_classes=CLASSES, dim=DIM, s=float(scale)))
    return found


def draw(shapes: Mapping[str, Shape], theme: str) -> bytes:
    """Target logit and gradient side by side. The background is transparent."""
    colours = THEMES[theme]
    kept = [key for key in QUANTITIES if any(getattr(shape, key) is not None for shape in shapes.values())]
    figure = Figure(figsize=(3.6 * len(kept), 2.7), layout="constrained")
    panels = figure.subplots(1, len(kept), squeeze=False)[0]
    for panel, key in zip(panels, kept, strict=True):
        for place, (name, shape) in enumerate(shapes.items()):
            style = {"color": colours["baseline"], "linestyle": "--"} if place else {"color": colours["loss"]}
            values = getattr(shape, key)
            if values is not None:
                panel.plot(np.degrees(ANGLES), values, linewidth=1.2 if place else 2.0, label=name, **style)
        panel.set(xlim=(0, 180), xticks=range(0, 181, 30), xlabel="angle θ, degrees", ylabel=QUANTITIES[key])
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(colours["ink"])
        panel.tick_params(colors=colours["ink"], labelsize=8)
        for label in (panel.xaxis.label, panel.yaxis.label):
            label.set(color=colours["ink"], fontsize=9)
    if len(shapes) > 1:
        panels[0].legend(frameon=False, fontsize=8, labelcolor=colours["ink"])
    file = io.BytesIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return file.getvalue()


def words(name: str, shapes: Mapping[str, Shape]) -> str:
    """What the picture shows, for those who cannot see it: the ends of the curves and the steepest place."""
    shape = shapes[name]
    said = []
    if shape.logit is not None:
        known = shape.logit[np.isfinite(shape.logit)]
        said.append(f"the target logit of {name} goes from {known[0]:.3g} at 0° to {known[-1]:.3g} at 180°")
    steepest = int(np.nanargmax(np.abs(shape.pull)))
    said.append(f"its gradient is largest, {shape.pull[steepest]:.3g}, at {np.degrees(ANGLES[steepest]):.0f}°")
    return "Over the angle, " + " and ".join(said)
