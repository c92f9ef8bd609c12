"""The common parts of layers with filters over spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from operator import index
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from core import Link, Parameter
from core.arrays.windows import per_axis
from core.errors.kinds import checked, kind_of, narrowed, taking
from core.link.initializer import InitializerSpec
from core.typing import Count, Counts, Sizes
from plugins.functions.ranks import EXAMPLE, described
from plugins.links import arguments

_take_ksize = taking(kind_of(Counts), "", "ksize")

P = ParamSpec("P")
S = TypeVar("S")
L = TypeVar("L", bound="type[Windowed]")


def ranked(rank: str) -> Callable[[L], L]:
    """Fill in the docstring of a class for a rank, "1d", "2d", "3d" or "nd".

    That over any number of axes has the template, as a family of functions has; `$RANK` ends the
    class's name, and `$axes` stands for 2 channels to 3 in the example, after the number of axes
    where there is a choice. Arguments that the class does not take are left out.
    """

    def said(cls: L) -> L:
        takes = cls.__init__.__annotations__.keys()
        if rank == "nd":
            cls._template, cls._takes, cls._rank = cls.__doc__ or "", takes, None
        else:
            cls._rank = int(rank[0])
        ndim = cls._rank or EXAMPLE
        words = {"RANK": rank.upper(), "axes": "2, 3" if cls._rank else f"{ndim}, 2, 3"}
        cls.__doc__ = described(cls._template, rank, ndim, cls._takes - takes, words)
        return cls

    return said


def of_rank(
    ndim: int, init: Callable[Concatenate[S, int, P], None]
) -> Callable[Concatenate[S, P], None]:
    """The `__init__` of a class with `ndim` spatial axes, from one that takes their number."""
    made = narrowed(init, ndim=ndim)
    made.__qualname__ = init.__qualname__.replace("ND", f"{ndim}D")
    return made  # type: ignore[no-any-return]


def shown(sizes: tuple[int, ...]) -> Sizes:
    """Sizes for all axes as they may be given: one number where they are equal."""
    return sizes[0] if len(set(sizes)) == 1 else sizes


class Windowed(Link):
    """Filters W and a bias b, with the places of the windows they are applied to.

    Sizes are one number for all spatial axes, or one for each. Where `ksize` is None, the input
    channels were left out, and what was given is out_channels and ksize.
    """

    b: Parameter | None
    in_channels: int | None = None

    _rank: ClassVar[int | None]
    _template: ClassVar[str]
    _takes: ClassVar[Set[str]]

    @checked
    def __init__(
        self,
        ndim: int,
        in_channels: int | None,
        out_channels: Any,
        ksize: Any,
        stride: Any,
        pad: Any,
        nobias: bool,
        initialW: InitializerSpec,
        initial_bias: InitializerSpec,
        dilate: Any,
        groups: Count,
    ) -> None:
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, in_channels, out_channels
            if ksize is not None:
                ksize = _take_ksize(ksize, self)
        if out_channels is None or ksize is None:
            raise TypeError(f"{self._link_name}: expected out_channels and ksize, got None.")
        self.ndim = ndim
        self.out_channels = index(out_channels)
        self.ksize = per_axis(ksize, ndim, "ksize")
        self.stride = per_axis(stride, ndim, "stride")
        self.pad = per_axis(pad, ndim, "pad")
        self.dilate = per_axis(dilate, ndim, "dilate")
        self.groups = groups
        self.b = None
        with self.init_scope():
            self.W = Parameter(arguments.weight(initialW))
            if not nobias:
                self.b = Parameter(arguments.bias(initial_bias), (self.out_channels,))
        if in_channels is not None:
            self._initialize_params(in_channels)

    @property
    def _link_name(self) -> str:
        return f"links.{type(self).__name__}"

    def _initialize_params(self, in_channels: int) -> None:
        for name, channels in (("input", in_channels), ("output", self.out_channels)):
            if channels % self.groups:
                raise ValueError(
                    f"{self._link_name}: expected {name} channels that {self.groups} groups "
                    f"divide, got {channels}."
                )
        if self.in_channels is None:  # a subclass may count others, of which these are a share
            self.in_channels = in_channels
        self.W.initialize(self._filter_shape(in_channels))

    def _filter_shape(self, in_channels: int) -> tuple[int, ...]:
        """The shape of W."""
        return (self.out_channels, in_channels // self.groups, *self.ksize)

    def _sized(self, x: Any) -> None:
        """Sizes W by the first input."""
        if not self.W.is_initialized:
            arguments.check_rank(self, x, self.ndim + 2)
            self._initialize_params(x.shape[1])

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """Sizes, and how windows lie where that is not the plain way."""
        yield "in_channels", self.in_channels, 0
        yield "out_channels", self.out_channels, 0
        yield "ksize", shown(self.ksize), None
        yield "stride", shown(self.stride), 1
        yield "pad", shown(self.pad), 0
        yield "nobias", self.b is None, False
        yield "dilate", shown(self.dilate), 1
        yield "groups", self.groups, 1
