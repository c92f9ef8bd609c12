"""From a domain to Hypothesis strategies: inputs and settings that an op must take.

Hypothesis chooses the shapes, the settings and one seed; the values follow from the seed. Values of
real inputs are such that float16 holds them exactly, so that one case serves every dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import permutations
from typing import Any, cast

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from core.errors import DeclarationError, InvalidType
from core.ops.types.domain import Domain
from core.ops.types.rules import Rule, Shaped
from core.ops.types.shapes import Argument
from core.ops.types.values import Axes, Choice, Input, Number, Setting
from core.typing import Shape

Draw = Any


@dataclass
class Case:
    """One drawn call: host arrays (floats in float64) by input name, and settings."""

    op: Any
    names: tuple[str, ...]
    values: tuple[Any, ...]
    inputs: tuple[Input, ...]
    settings: dict[str, Any]
    seed: int
    kind: str = field(default="plain")
    drawn: Callable[[int], tuple[Any, ...]] = field(default=lambda seed: (), compare=False)

    def others(self, count: int) -> list[Case]:
        """Calls of the same shapes and settings with other values."""
        seeds = [(self.seed + i) % 2**16 for i in range(1, count + 1)]
        return [replace(self, seed=seed, values=self.drawn(seed)) for seed in seeds]

    def arrays(self, dtype: str) -> list[Any]:
        """Host arrays with the real inputs in `dtype`; new ones on every call."""
        return [
            np.array(value, dtype=dtype if declared.real else value.dtype)
            for value, declared in zip(self.values, self.inputs, strict=True)
        ]

    def __repr__(self) -> str:
        shapes = ", ".join(f"{n}{v.shape}" for n, v in zip(self.names, self.values, strict=True))
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"<{self.kind} case of {self.op.__name__}({settings}): {shapes}; seed {self.seed}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Hypothesis's way of asking: one line, the snippet beside it has the values."""
        printer.text(repr(self))


KINDS = ("plain", "edges", "empty")
"""Values inside the ranges; at their ends and on kinks; a dimension of size 0."""


_ATTEMPTS = 100  # signatures do not say everything: rules turn many drawn shapes down


class _Unfit(Exception):
    """Shapes or settings that the domain does not allow: draw others."""


@st.composite
def cases(draw: Draw, op: Any, kind: str = "plain") -> Case:
    """Calls of an op class, drawn from its domain."""
    for _ in range(_ATTEMPTS):
        try:
            return _draw_case(draw, op, kind)
        except _Unfit:
            continue
    reject()


def _draw_case(draw: Draw, op: Any, kind: str) -> Case:
    domain = domain_of(op)
    count = _draw_count(draw, domain)
    names = input_names(op, domain, count)
    shapes = _Shapes(draw, domain, empty=kind == "empty").draw(count)
    settings = _draw_settings(draw, domain, op, names, shapes)
    _vary(draw, domain, settings, shapes)
    given = op.declared.names if getattr(op, "declared", None) else domain.inputs or names
    made = op(**settings)
    try:
        domain.check_shapes(given, [Shaped(shape) for shape in shapes], made, drawn=True)
    except InvalidType:
        raise _Unfit from None
    seed = draw(st.integers(0, 2**16 - 1))
    inputs = tuple(domain.value(i) for i in range(count))
    sizes = domain.scope(given, shapes, made).values

    def values(seed: int) -> tuple[Any, ...]:
        return _Values(sizes, shapes, settings, seed, kind).draw(inputs)

    return Case(op, names, values(seed), inputs, settings, seed, kind, values)


def domain_of(op: Any) -> Domain:
    """The domain of an op class; an error that says what to write where it has none."""
    if not isinstance(op, type):
        raise DeclarationError(
            "core.testing: expected the class of an operation, as core.functions.ReLU is that of "
            f"relu, got {op!r:.80}. Of any function core.gradient_check.check_backward proves the "
            "gradient."
        )
    domain = getattr(op, "domain", None)
    if not isinstance(domain, Domain):
        raise DeclarationError(
            f"{op.__name__}: has no domain to draw inputs from. "
            "Declare one, such as domain = Domain(x=real(-3, 3))."
        )
    return domain


def input_names(op: Any, domain: Domain, count: int) -> tuple[str, ...]:
    """Names of the inputs of a call with `count` of them."""
    declared = getattr(op, "declared", None)
    if declared is not None:
        return tuple(declared.inputs_of(count))
    names = domain.inputs or tuple(f"x{i}" for i in range(count))
    alone = names[:-1] if domain.signature.variadic else names
    return (*alone[:count], *(f"{names[-1]}{i}" for i in range(count - len(alone))))


def shapes_by_name(op: Any, names: tuple[str, ...], shapes: list[Shape]) -> dict[str, Any]:
    """Input name -> shape, and the name of a repeated input -> the shapes of all of it."""
    domain = domain_of(op)
    found: dict[str, Any] = dict(zip(names, shapes, strict=True))
    if domain.signature.variadic and domain.inputs:
        alone = len(domain.inputs) - 1
        found[domain.inputs[-1]] = tuple(shapes[alone:])
    return found


# -- shapes ----------------------------------------------------------------------------------------


def _draw_count(draw: Draw, domain: Domain) -> int:
    least, most = domain.signature.counts
    if most is None:
        return draw(_one_of((least + 1, least, least + 2)))  # type: ignore[no-any-return]
    return draw(_one_of(range(most, least - 1, -1)))  # type: ignore[no-any-return]


@lru_cache(256)  # Hypothesis looks through each new strategy before it draws from it
def _one_of(options: Any) -> Any:
    return st.sampled_from(options)


@lru_cache(16)
def _sizes(ndim: int) -> Any:
    return st.lists(_one_of((3, 2, 1, 4)), min_size=ndim, max_size=ndim)


class _Shapes:
    """Draws sizes for the names of a signature, then the shapes they make."""

    def __init__(self, draw: Draw, domain: Domain, *, empty: bool) -> None:
        self._draw = draw
        self._domain = domain
        signature = domain.signature
        drawn = [name for name in signature.names if not callable(domain.dims.get(name))]
        self._sizes = {name: self._size(name) for name in drawn}
        groups = signature.groups or (("...",) if signature.elementwise else ())
        self._groups = {g: self._group(g) for g in groups if not callable(domain.dims.get(g))}
        if empty:
            self._make_empty()
        self._follow()

    def _follow(self) -> None:
        """Work out the dimensions that follow from the drawn ones."""
        for name, rule in self._domain.dims.items():
            if callable(rule):
                found = rule({**self._sizes, **self._groups})
                if isinstance(found, tuple):
                    self._groups[name] = found
                else:
                    self._sizes[name] = found

    def _size(self, name: str) -> int:
        lo, hi = cast("tuple[int, int]", self._domain.dims.get(name, (1, 4)))
        return self._draw(_one_of(_middle_out(lo, hi)))  # type: ignore[no-any-return]

    def _group(self, group: str) -> Shape:
        least = self._least_rank()
        lo, hi = cast("tuple[int, int]", self._domain.dims.get(group, (least, 3)))
        return tuple(self._draw(_sizes(self._draw(_one_of(_middle_out(lo, hi))))))

    def _least_rank(self) -> int:
        settings = self._domain.settings.values()
        return int(any(isinstance(s, Axes) and not (s.none or s.beyond) for s in settings))

    def _make_empty(self) -> None:
        """Set one dimension to 0; reject where the declaration leaves none to choose."""
        free: list[tuple[str, int | None]] = [
            (name, None) for name in self._sizes if name not in self._domain.dims
        ]
        free += [(name, axis) for name, dims in self._groups.items() for axis in range(len(dims))]
        if not free:
            raise _Unfit
        name, axis = self._draw(st.sampled_from(free))
        if axis is None:
            self._sizes[name] = 0
        else:
            dims = self._groups[name]
            self._groups[name] = (*dims[:axis], 0, *dims[axis + 1 :])

    def draw(self, count: int) -> list[Shape]:
        signature = self._domain.signature
        arguments = [signature.argument(i) for i in range(count)]
        looped = [a.loops or signature.elementwise for a in arguments]
        broadcast = sum(looped) > 1 and self._draw(st.booleans())
        return [
            self._shape(argument, loops and broadcast)
            for argument, loops in zip(arguments, looped, strict=True)
        ]

    def _shape(self, argument: Argument, broadcast: bool) -> Shape:
        if self._domain.signature.elementwise:
            return self._loop(self._groups["..."], broadcast)
        shape: Shape = ()
        for dim in argument.dims:
            if isinstance(dim, int):
                shape += (dim,)
            elif dim in self._sizes:
                shape += (self._sizes[dim],)
            else:
                shape += self._loop(self._groups[dim], broadcast)
        return shape

    def _loop(self, dims: Shape, broadcast: bool) -> Shape:
        """`dims`, or dimensions that broadcast to them."""
        if not broadcast:
            return dims
        kept = self._draw(_one_of(range(len(dims) + 1)))
        dims = dims[len(dims) - kept :]
        return tuple(1 if self._draw(st.booleans()) else n for n in dims)


def _middle_out(lo: int, hi: int) -> tuple[int, ...]:
    """The sizes from `lo` to `hi`, a telling one first: tests that run few examples take that."""
    sizes = list(range(lo, hi + 1))
    return tuple(sorted(sizes, key=lambda n: abs(n - (lo + 1 if hi > lo else lo))))


def _vary(draw: Draw, domain: Domain, settings: dict[str, Any], shapes: list[Shape]) -> None:
    """Let repeated inputs differ in size along the axis that the domain says, in place."""
    if domain.differ is None:
        return
    axis = domain.differ if isinstance(domain.differ, int) else settings[domain.differ]
    for i in range(len(domain.signature.inputs) - 1, len(shapes)):
        dims = list(shapes[i])
        if not isinstance(axis, int) or not -len(dims) <= axis < len(dims):
            raise _Unfit
        if dims[axis]:
            dims[axis] = draw(st.integers(1, 4))
        shapes[i] = tuple(dims)


# -- settings --------------------------------------------------------------------------------------


def _draw_settings(
    draw: Draw, domain: Domain, op: Any, names: tuple[str, ...], shapes: list[Shape]
) -> dict[str, Any]:
    by_name = shapes_by_name(op, names, shapes)
    return {
        name: _draw_setting(draw, setting, by_name) for name, setting in domain.settings.items()
    }


def _draw_setting(draw: Draw, setting: Setting, shapes: dict[str, Any]) -> Any:
    if isinstance(setting, Choice):
        options = list(setting.find(shapes)) if setting.find else list(setting.options)
        if not options:
            raise _Unfit
        return draw(st.sampled_from(options))
    if isinstance(setting, Number):
        return _draw_number(draw, setting)
    shape = shapes[setting.of]
    ndim = len(shape[0] if shape and isinstance(shape[0], tuple) else shape) + setting.beyond
    return _draw_axes(draw, setting, ndim)


def _draw_number(draw: Draw, setting: Number) -> Any:
    lo, hi = setting.lo, setting.hi
    if isinstance(lo, int) and isinstance(hi, int):
        return draw(st.integers(lo, hi))
    return lo + (hi - lo) * draw(_one_of((4, 0, 1, 2, 3, 5, 6, 7, 8))) / 8


def _draw_axes(draw: Draw, setting: Axes, ndim: int) -> Any:
    if setting.none and draw(st.booleans()):
        return None
    if setting.permutation:
        return draw(_one_of(tuple(sorted(permutations(range(ndim)), reverse=True))))
    if ndim == 0:
        if not setting.none:
            raise _Unfit
        return None
    if setting.many and draw(st.booleans()):
        chosen = draw(st.lists(st.integers(0, ndim - 1), unique=True, min_size=1))
        return tuple(a - ndim if draw(st.booleans()) else a for a in chosen)
    return draw(_one_of((*range(ndim), *range(-ndim, 0))))


# -- values ----------------------------------------------------------------------------------------


class _Values:
    """Makes the values of one case."""

    def __init__(
        self,
        sizes: dict[str, Any],
        shapes: list[Shape],
        settings: dict[str, Any],
        seed: int,
        kind: str,
    ) -> None:
        self._sizes = sizes
        self._shapes = shapes
        self._settings = settings
        self._random = np.random.default_rng(seed)
        self._kind = kind

    def draw(self, inputs: tuple[Input, ...]) -> tuple[Any, ...]:
        pools = self._distinct(inputs)
        return tuple(
            self._made(declared, pools[i] if i in pools else self._one(declared, i))
            for i, declared in enumerate(inputs)
        )

    def _made(self, declared: Input, values: Any) -> Any:
        return values if declared.make is None else np.asarray(declared.make(np, values))

    def _one(self, declared: Input, index: int) -> Any:
        shape = self._shapes[index]
        if declared.what == "boolean":
            return self._random.random(shape) < 0.5
        if declared.what == "integer":
            return self._integers(declared, shape)
        lo, hi = float(declared.lo), float(declared.hi)
        if self._kind == "edges":
            return self._random.choice(self._edges(declared), shape)
        return self._off_kinks(_rounded(self._random.uniform(lo, hi, shape)), declared)

    def _integers(self, declared: Input, shape: Shape) -> Any:
        hi = Rule(declared.hi)(self._sizes) if isinstance(declared.hi, str) else declared.hi
        if hi <= declared.lo:
            if 0 in shape:
                return np.zeros(shape, "int32")
            raise _Unfit
        dtype = "int64" if self._random.random() < 0.25 else "int32"
        return self._random.integers(int(declared.lo), int(hi), shape).astype(dtype)

    def _kinks(self, declared: Input) -> list[float]:
        kinks = []
        for kink in declared.kinks:
            if isinstance(kink, str):
                value = self._settings[kink.lstrip("-")]
                if value is None:
                    continue
                kink = -float(value) if kink.startswith("-") else float(value)
            kinks.append(kink)
        return kinks

    def _off_kinks(self, values: Any, declared: Input) -> Any:
        """Values moved away from kinks, farther than finite differences reach."""
        margin = min(0.1, (float(declared.hi) - declared.lo) / 20)
        for kink in self._kinks(declared):
            side = np.where(values >= kink, margin, -margin)
            values = np.where(np.abs(values - kink) < margin, _rounded(kink + side), values)
        return values

    def _edges(self, declared: Input) -> Any:
        lo, hi = float(declared.lo), float(declared.hi)
        zero = [0.0] if lo <= 0 <= hi else []
        kinks = [k for k in self._kinks(declared) if lo <= k <= hi]
        return _rounded(np.array([lo, hi, (lo + hi) / 2, *zero, *kinks]))

    def _distinct(self, inputs: tuple[Input, ...]) -> dict[int, Any]:
        """Values that differ from each other, within and between the distinct inputs of a range."""
        found: dict[int, Any] = {}
        ranges: dict[tuple[float, float], list[int]] = {}
        for i, declared in enumerate(inputs):
            if declared.distinct and self._kind != "edges":
                ranges.setdefault((declared.lo, float(declared.hi)), []).append(i)
        for (lo, hi), members in ranges.items():
            sizes = [int(np.prod(self._shapes[i])) for i in members]
            pool = self._random.permutation(np.linspace(lo, hi, sum(sizes) + 2)[1:-1])
            parts = np.split(_rounded(pool), np.cumsum(sizes)[:-1])
            for i, part in zip(members, parts, strict=True):
                found[i] = self._off_kinks(part.reshape(self._shapes[i]), inputs[i])
        return found


def _rounded(values: Any) -> Any:
    """The nearest values that float16 holds, in float64."""
    return np.asarray(values, "float16").astype("float64")
