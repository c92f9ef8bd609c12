"""Images as windows, and windows summed back into images: each the adjoint of the other."""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, as_variable, choice, real
from core.arrays.windows import Geometry, per_axis
from core.errors import InvalidType
from core.typing import Array, Sizes


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


def windows_fit(f: Any, x: Any, *filters: Any) -> None:
    """A rule of domains: a window at least along every spatial axis of x.

    `f` says by its settings how the windows lie, and how large they are where no filters do.
    """
    expect_axes(x)
    ksize = filters[0].shape[2:] if filters else f.ksize
    try:
        found = Geometry(x.shape[2:], ksize, f.stride, f.pad, getattr(f, "dilate", 1), f.cover_all)
    except ValueError as error:
        raise ValueError(f"{f.label}: {error}") from None
    if min(found.out, default=1) < 1:
        raise InvalidType(
            f"windows of {found.ksize}, dilated by {found.dilate}, that fit into the input",
            f"they do not fit into {found.size} padded by {found.pad}. "
            "Use a smaller window or more padding.",
        )


def expect_axes(x: Any) -> None:
    """Refuse x unless it has a spatial axis."""
    if len(x.shape) < 3:
        raise InvalidType("x.ndim > 2", f"{len(x.shape)} <= 2")


def expect_places(x: Any, windows: tuple[int, ...], size: tuple[int, ...]) -> None:
    """Refuse x unless it has a place for each of the windows that lie on an output."""
    for axis, (n, expected) in enumerate(zip(x.shape[2:], windows, strict=True), 2):
        if n != expected:
            raise InvalidType(
                f"x.shape[{axis}] == {expected}, the windows on an output of {size}",
                f"{n} != {expected}",
            )


def _side(setting: str, axis: int) -> property:
    def side(f: Any) -> Any:
        sizes = getattr(f, setting)
        return None if sizes is None else per_axis(sizes, 2, setting)[axis]

    return property(side)


class ImageWindows:
    """How the windows of an operation on images lie, down and across, as numbers of their own."""

    kh, kw = _side("ksize", 0), _side("ksize", 1)
    sy, sx = _side("stride", 0), _side("stride", 1)
    ph, pw = _side("pad", 0), _side("pad", 1)
    dy, dx = _side("dilate", 0), _side("dilate", 1)
    outh, outw = _side("outsize", 0), _side("outsize", 1)


class _OverAxes(FunctionNode):
    """An operation whose first setting is the number of spatial axes of x."""

    ndim: int


OVER_AXES = "x.ndim == ndim + 2"
"""The rule of their domains."""


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
        valid=windows_fit,
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
