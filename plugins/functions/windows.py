"""Images as windows, and windows summed back into images: each the adjoint of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import Domain, FunctionNode, as_variable, choice, real
from core.arrays.windows import Geometry, per_axis, window_count
from core.errors import InvalidType
from core.ops.types.type_check import eval, expect
from core.typing import Array, Sizes


def _fits(shapes: dict[str, Any], settings: dict[str, Any]) -> bool:
    names = ("ksize", "stride", "pad", "dilate")
    x = shapes["x"][2:]
    steps = [per_axis(settings[name], len(x), name) for name in names]
    return all(
        [
            window_count(n, k, s, p, settings["cover_all"], d) > 0
            for n, k, s, p, d in zip(x, *steps, strict=True)
        ]
    )


def of_rank(operation: str, ndim: int, x: Array, name: str = "x") -> Any:
    """`x` as a Variable, refused unless it has that many spatial axes."""
    x = as_variable(x)
    if x.ndim != ndim + 2:
        raise InvalidType(
            f"{name}.ndim == {ndim + 2}",
            f"{x.ndim} != {ndim + 2}",
            operation=operation,
            accepts=lambda specs: name in specs and _is_image(ndim, specs[name], specs.get("W")),
        )
    return x


def _is_image(ndim: int, x: Any, W: Any) -> bool:
    """Whether x has the axes of images, and channels and a dtype that W has as well."""
    fits = W is None or x is W or (x.shape[1:2] and x.shape[1] in W.shape[:2] and x.name == W.name)
    return len(x.shape) == ndim + 2 and bool(fits)


def expect_windows(f: Any, x: Any, ksize: int | Sequence[int]) -> None:
    """A rule of types for images x: a window at least along every spatial axis.

    `f` says by its settings how the windows lie.
    """
    expect(x.ndim > 2)
    size = [eval(x.shape[i + 2]) for i in range(eval(x.ndim) - 2)]
    try:
        found = Geometry(size, ksize, f.stride, f.pad, getattr(f, "dilate", 1), f.cover_all)
    except ValueError as error:
        raise ValueError(f"{f.label}: {error}") from None
    if min(found.out, default=1) < 1:
        raise InvalidType(
            f"windows of {found.ksize}, dilated by {found.dilate}, that fit into the input",
            f"they do not fit into {found.size} padded by {found.pad}. "
            "Use a smaller window or more padding.",
        )


def _side(setting: str, axis: int) -> property:
    def side(f: Any) -> Any:
        sizes = getattr(f, setting)
        return None if sizes is None else per_axis(sizes, 2, setting)[axis]

    return property(side)


class ImageWindows:
    """How the windows of an operation on images lie, down and across, as numbers of their own."""

    __slots__ = ()
    kh, kw = _side("ksize", 0), _side("ksize", 1)
    sy, sx = _side("stride", 0), _side("stride", 1)
    ph, pw = _side("pad", 0), _side("pad", 1)
    dy, dx = _side("dilate", 0), _side("dilate", 1)
    outh, outw = _side("outsize", 0), _side("outsize", 1)


class _OverAxes(FunctionNode):
    """An operation whose first setting is the number of spatial axes of x.

    The last base of a class, whose own check goes on to this one.
    """

    ndim: int

    def check_type_forward(self, in_types):
        expect(in_types[0].ndim == self.ndim + 2)


def ndim_of_x() -> Any:
    """The setting `ndim`, for a domain."""
    return choice(lambda shapes: [len(shapes["x"]) - 2])


class Windows(FunctionNode):
    """All windows of images: (n, c, ...) to (n, c, *ksize, *out)."""

    ksize: Sizes
    stride: Sizes = 1
    pad: Sizes = 0
    dilate: Sizes = 1
    cover_all: bool = False

    domain = Domain(
        "(n,c,...s)->(n,c,...k)",
        x=real(-3, 3),
        settings={
            "ksize": choice(2, 3, 1),
            "stride": choice(1, 2),
            "pad": choice(0, 1),
            "dilate": choice(1, 2),
            "cover_all": choice(False, True),
        },
        dims={"...s": (1, 2)},
        valid=_fits,
    )

    def compute(self, xp, x):
        ksize = per_axis(self.ksize, x.ndim - 2, "ksize")
        laid = (self.stride, self.pad, self.dilate, self.cover_all)
        return xp.asarray(self.backend.windows(x, ksize, *laid), copy=True)

    def gradient(self, xp, g):
        size = self.input_shape(0)[2:]
        laid = (self.ksize, self.stride, self.pad, self.dilate, self.cover_all)
        return Fold(*laid, size=size).evaluate(g)


class Fold(FunctionNode):
    """Windows (n, c, *ksize, *out) summed into images (n, c, *size)."""

    ksize: Sizes
    stride: Sizes = 1
    pad: Sizes = 0
    dilate: Sizes = 1
    cover_all: bool = False
    size: tuple[int, ...] = ()

    wide = True

    def compute(self, xp, windows):
        return self.backend.fold(windows, self.size, self.stride, self.pad, self.dilate)

    def gradient(self, xp, g):
        laid = (self.ksize, self.stride, self.pad, self.dilate, self.cover_all)
        return Windows(*laid).evaluate(g)
