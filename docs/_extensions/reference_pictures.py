"""Pictures in the reference, drawn from what the names compute when the site is built.

Activations with their derivatives, schedules, what initializers draw, and which elements the
windows of convolutions and poolings join.
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

import numpy as np
from drawings import bars, curves, windows

import core
import core.functions as F
from core import initializers
from core.training import extensions
from plugrad.commands.reference import bundled

SCHEDULES = {
    "CosineShift": "CosineShift('lr', 25, init=0.1, restart=2)",
    "ExponentialShift": "ExponentialShift('lr', 0.97, init=0.1)",
    "FunctionShift": "FunctionShift('lr', lambda t: 0.5 + 0.5 / (1 + t % 25), init=0.1)",
    "InverseShift": "InverseShift('lr', gamma=0.1, power=0.75, init=0.1)",
    "LinearShift": "LinearShift('lr', (0.1, 0.01), (20, 80))",
    "MultistepShift": "MultistepShift('lr', 0.3, [30, 60, 80], init=0.1)",
    "OneCycleShift": "OneCycleShift('lr', 100, init=0.1)",
    "PolynomialShift": "PolynomialShift('lr', 2, max_count=100, init=0.1)",
    "StepShift": "StepShift('lr', 0.5, step=20, init=0.1)",
    "WarmupShift": "WarmupShift('lr', 0.0, 20, init=0.1, then=CosineShift('lr', 80))",
}


class Window(NamedTuple):
    """A call, and what it joins: a kernel of so many elements, steps and gaps, padding around."""

    call: str
    size: int
    ksize: int
    stride: int = 1
    pad: int = 0
    dilate: int = 1
    turned: bool = False  # from an element to a window, as deconvolutions


WINDOWS = {
    "convolution_2d": Window("F.convolution_2d(x, W, stride=2, pad=1)", 5, 3, 2, 1),
    "dilated_convolution_2d": Window("F.dilated_convolution_2d(x, W, dilate=2)", 6, 3, dilate=2),
    "depthwise_convolution_2d": Window("F.depthwise_convolution_2d(x, W, pad=1)", 4, 3, 1, 1),
    "deconvolution_2d": Window(
        "F.deconvolution_2d(x, W, stride=2, pad=1)", 3, 3, 2, 1, turned=True
    ),
    "max_pooling_2d": Window("F.max_pooling_2d(x, 2)", 6, 2, 2),
    "average_pooling_2d": Window("F.average_pooling_2d(x, 3, stride=1, pad=1)", 4, 3, 1, 1),
    "unpooling_2d": Window("F.unpooling_2d(x, 2, cover_all=False)", 3, 2, 2, turned=True),
}
SAME = {
    "Convolution2D": "convolution_2d",
    "DilatedConvolution2D": "dilated_convolution_2d",
    "DepthwiseConvolution2D": "depthwise_convolution_2d",
    "Deconvolution2D": "deconvolution_2d",
}


def activation(name: str) -> tuple[str, str] | None:
    """The function and its derivative, where it maps each number by itself."""
    function = getattr(F, name)
    xs = np.linspace(-4, 4, 161)
    with core.using_config("train", False):
        try:
            x = core.Variable(xs)
            y = function(x)
            alone = function(core.Variable(xs[40:41]))
            if y.shape != x.shape or not np.allclose(alone.array, y.array[40:41]):
                return None
            (slope,) = core.grad([F.sum(y)], [x])
        except (TypeError, ValueError, NotImplementedError, core.errors.CoreError):
            return None  # it takes more than numbers one by one
    ends = f"{y.array[0]:.3g} at −4 to {y.array[-1]:.3g} at 4"
    slopes = f"{slope.array[0]:.3g} to {slope.array[-1]:.3g}"
    said = f"{name}, from {ends}, and its derivative, from {slopes}"
    lines = [(name, xs, y.array), ("derivative", xs, slope.array)]
    return curves(lines, said), f"{_key(0)} {name} and {_key(1)} its derivative"


def schedule(name: str) -> tuple[str, str]:
    """The numbers of the first hundred calls."""
    call = SCHEDULES[name]
    made = eval(call, vars(extensions) | {n: getattr(extensions, n) for n in SCHEDULES})
    values = [made.value_at(t) for t in range(101)]
    said = f"{call}: {values[0]:.3g} at 0, {values[50]:.3g} at 50, {values[100]:.3g} at 100"
    return curves([(name, range(101), values)], said), f"<code>{escape(call)}</code>"


def initializer(name: str) -> tuple[str, str] | None:
    """How what is drawn for a matrix of 200 by 100 is distributed, where it is."""
    try:
        made = getattr(initializers, name)()
        core.seed(0)
        array = np.empty((200, 100), "f")
        made(array)
    except (TypeError, ValueError, NotImplementedError, core.errors.CoreError):
        return None  # it needs arguments, or other shapes
    finally:
        core.seed(None)
    if len(np.unique(array)) < 100:
        return None
    low, high = np.quantile(array, [0.001, 0.999])
    counts, _ = np.histogram(array, 41, (low, high))
    said = (
        f"{name}() for a matrix of 200 by 100: mean {array.mean():.2g}, standard deviation "
        f"{array.std():.2g}, from {array.min():.2g} to {array.max():.2g}"
    )
    text = f"<code>{name}()</code> for a matrix of 200 by 100: standard deviation {array.std():.2g}"
    return bars(float(low), float(high), counts.tolist(), said), text


def window(name: str) -> tuple[str, str]:
    """Which elements the first two results are made of, or the first two elements go to."""
    w = WINDOWS[name]
    x = np.ones((1, 1, w.size, w.size), "f")
    given = {"F": F, "x": x, "W": np.ones((1, 1, w.ksize, w.ksize), "f")}
    rows, columns = eval(w.call, given).shape[2:]

    def reached(step: int) -> list[tuple[int, int]]:
        places = [k * w.dilate - w.pad for k in range(w.ksize)]
        return [(i, j + step * w.stride) for i in places for j in places]

    one = [[(0, 0)], [(0, 1)]]
    many = [reached(0), reached(1)]
    sizes = (w.size, w.size), (rows, columns)
    names = [f"x: {a}×{b}" for a, b in sizes[:1]] + [f"y: {rows}×{columns}"]
    cut = f", {w.pad} around are cut off" if w.turned else f", {w.pad} of padding around"
    about = cut if w.pad else ""
    if w.turned:
        sides = [(names[0], sizes[0], 0, one), (names[1], sizes[1], w.pad, many)]
        does = "what the first element of x and the next one go to"
    else:
        sides = [(names[0], sizes[0], w.pad, many), (names[1], sizes[1], 0, one)]
        does = "what the first element of y and the next one are made of"
    said = (
        f"{w.call}: x of {w.size} by {w.size}, y of {rows} by {columns}; windows of {w.ksize} by "
        f"{w.ksize}, {w.stride} apart{about}; {does}"
    )
    return windows(sides, said), f"<code>{escape(w.call)}</code>: {does}"


def _key(number: int) -> str:
    return (
        '<svg class="drawing key" viewBox="0 0 26 10" aria-hidden="true">'
        f'<polyline class="line{number}" points="1,5 25,5"/></svg>'
    )


def picture(name: str) -> tuple[str, str] | None:
    """The picture of a public name, and the words below it."""
    module, _, own = name.rpartition(".")
    kind = module.rpartition(".")[2]
    if kind in ("functions", "links") and SAME.get(own, own) in WINDOWS:
        return window(SAME.get(own, own))
    if kind == "functions" and own in ACTIVATIONS:
        return activation(own)
    if kind == "extensions" and own in SCHEDULES:
        return schedule(own)
    if kind == "initializers":
        return initializer(own)
    return None


ACTIVATIONS = {name for family, name, _ in bundled("functions") if family == "activation"}


def insert(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Put the picture after the first paragraph of a docstring."""
    if what not in ("function", "class") or name.count(".") < 2:
        return
    found = picture(name)
    if found is None:
        return
    svg, words = found
    end = lines.index("") if "" in lines else len(lines)
    figure = f"<figure>{svg}<figcaption>{words}</figcaption></figure>"
    lines[end:end] = ["", ".. raw:: html", "", f"   {figure}", ""]


def setup(app: Any) -> dict[str, bool]:
    """Listen to docstrings, after their sections have been read."""
    app.connect("autodoc-process-docstring", insert, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
