"""Domains: what an op takes, as plain data.

One declaration serves three readers: the engine checks inputs against it and words the error, the
documentation prints it, and `core.testing` draws inputs from it. So it imports neither an array
library nor a test library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from core.errors import DeclarationError, InvalidType, nearest
from core.ops.types.shapes import Signature, broadcast_shapes
from core.registry.public import listing
from core.typing import Shape

__all__ = [
    "CHECKS",
    "REASONS",
    "Axes",
    "Choice",
    "Domain",
    "Input",
    "Number",
    "anything",
    "axes",
    "boolean",
    "broadcast_shapes",
    "choice",
    "integers",
    "number",
    "numeric",
    "ordered",
    "real",
]

__dir__ = listing(__name__)

REASONS = ("random", "integer-valued", "not differentiable", "dtype the backend lacks")
"""Why an op may leave a check out; there is no fifth reason."""

CHECKS = (
    "forward",
    "gradient",
    "double_gradient",
    "dtypes",
    "layouts",
    "empty",
    "mutation",
    "retention",
    "kernels",
    "backends",
    "repeat",
)
"""The checks of `core.testing.check_op`, by the names that `leave_out` takes."""


class SpecLike(Protocol):
    """What a check reads of an input: core.arrays.spec.Spec has it."""

    @property
    def shape(self) -> Shape: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...


class Input(NamedTuple):
    """The values of one input: what `real`, `integers`, `boolean` and `anything` return."""

    what: str
    kinds: str
    lo: float = 0
    hi: float | str = 1
    kinks: tuple[float | str, ...] = ()
    distinct: bool = False
    make: Callable[[Any, Any], Any] | None = None
    mixed: bool = False

    @property
    def real(self) -> bool:
        """Whether the input shares one dtype with the other real inputs."""
        return self.what in ("real", "number", "any dtype", "any real dtype")

    def __str__(self) -> str:
        if self.what == "boolean":
            return "boolean"
        closing = ")" if self.what == "integer" else "]"
        text = f"{self.what} in [{self.lo}, {self.hi}{closing}"
        text += ", all different" if self.distinct else ""
        return text + (", of any floating dtype" if self.mixed else "")


def real(
    lo: float,
    hi: float,
    *,
    kinks: Iterable[float | str] = (),
    distinct: bool = False,
    make: Callable[[Any, Any], Any] | None = None,
    mixed: bool = False,
) -> Input:
    """Floating-point values from `lo` to `hi`; all real inputs of an op have one dtype.

    A `mixed` input may have another floating dtype than the others. Then the op is computed in the
    widest, its result rounded to the dtype of the first input, or not at all where the class says
    `promotes = True`, and each gradient to the dtype of its input.

    `kinks` are the values, or settings that hold them ("-name" for the negative), where the op has
    no derivative. `distinct` says that values which are equal, within the input or between two
    distinct inputs, are a kink. `make(xp, array)` turns drawn values into fit ones (a positive
    definite matrix, a probability).
    """
    return Input("real", "fV", lo, hi, tuple(kinks), distinct, make, mixed)


def numeric(lo: float = -3, hi: float = 3, *, kinks: Iterable[float | str] = ()) -> Input:
    """Real numbers, whole ones among them: for ops that integers have as well, without gradient."""
    return Input("number", "iufV", lo, hi, tuple(kinks))


def anything(lo: float = -3, hi: float = 3) -> Input:
    """Values of any dtype: for ops that only move them or compare them."""
    return Input("any dtype", "biufcV", lo, hi)


def ordered(lo: float = -3, hi: float = 3) -> Input:
    """Values of any dtype but complex ones, which have no order."""
    return Input("any real dtype", "biufV", lo, hi)


def integers(lo: int, hi: int | str, *, make: Callable[[Any, Any], Any] | None = None) -> Input:
    """Integers from `lo` up to, not including, `hi`: a number or the name of a dimension."""
    return Input("integer", "iu", lo, hi, make=make)


def boolean() -> Input:
    """Truth values."""
    return Input("boolean", "b")


class Choice(NamedTuple):
    """A setting with these values; or those that `find(shapes)` returns for the drawn shapes."""

    options: tuple[Any, ...] = ()
    find: Callable[[dict[str, Any]], Sequence[Any]] | None = None

    def __str__(self) -> str:
        return "by shape" if self.find else "one of " + ", ".join(map(repr, self.options))


def choice(*options: Any) -> Choice:
    """A setting that is one of `options`.

    A single function instead takes the shapes by input name and returns the options that fit them.
    """
    if len(options) == 1 and callable(options[0]) and not isinstance(options[0], type):
        return Choice(find=options[0])
    if not options:
        raise DeclarationError("choice: name at least one option.")
    return Choice(options)


class Axes(NamedTuple):
    """A setting that names axes of an input."""

    of: str
    many: bool = False
    none: bool = False
    beyond: int = 0
    permutation: bool = False

    def __str__(self) -> str:
        kinds = ["a permutation of the axes" if self.permutation else "an axis"]
        kinds += ["several axes"] * self.many + ["None"] * self.none
        return " or ".join(kinds) + f" of {self.of}"


def axes(
    of: str,
    *,
    many: bool = False,
    none: bool = False,
    beyond: int = 0,
    permutation: bool = False,
) -> Axes:
    """A setting that is an axis of the input `of`, counted from either end.

    `many` allows a tuple of axes, `none` None, `beyond` says how many more axes the result has
    (expand_dims: 1), `permutation` asks for a tuple of all axes in some order.
    """
    return Axes(of, many, none, beyond, permutation)


class Number(NamedTuple):
    """A setting that is a number in a range."""

    lo: float
    hi: float

    def __str__(self) -> str:
        return f"number in [{self.lo}, {self.hi}]"


def number(lo: float, hi: float) -> Number:
    """A setting from `lo` to `hi`, an integer where both are."""
    return Number(lo, hi)


Setting = Choice | Axes | Number
Dimension = tuple[int, int] | Callable[[dict[str, Any]], Any]


class Domain:
    """What an op takes: shapes as a signature (see core.ops.types.shapes), then its inputs by name.

    - `settings`: name -> choice(...), axes(...) or number(...); others keep their defaults.
    - `dims`: name of a dimension -> range of its size, both ends included (`...`: of the number of
      dimensions), or a function that takes the other sizes by name and returns this one (`...`: the
      tuple of them). Without one sizes are 1 to 4, and dots stand for up to three dimensions.
    - `empty`: whether dimensions without a range may be 0.
    - `differ`: the setting that names the axis along which repeated inputs may differ in size.
    - `valid(shapes, settings)`: what else must hold, for shapes by input name.
    - `kinks`: kinks of every real input. `leave_out`: check -> one of the four REASONS.

    >>> print(Domain("(n,k),(m,k)->(n,m)", x=real(-2, 2), W=real(-2, 2)))
    (n,k),(m,k)->(n,m); x: real in [-2, 2]; W: real in [-2, 2]
    """

    def __init__(
        self,
        signature: str,
        *,
        kinks: Iterable[float | str] = (),
        settings: Mapping[str, Setting] | None = None,
        dims: Mapping[str, Dimension] | None = None,
        differ: str | None = None,
        empty: bool = True,
        valid: Callable[[dict[str, Any], dict[str, Any]], bool] | None = None,
        leave_out: Mapping[str, str] | None = None,
        note: str = "",
        **inputs: Input,
    ) -> None:
        everywhere = tuple(kinks)
        self.signature = Signature(signature)
        self.values = {k: _with_kinks(k, v, everywhere) for k, v in inputs.items()}
        self.settings = dict(settings or {})
        self.dims = dict(dims or {})
        self.differ = differ
        self.empty = empty
        self.valid = valid
        self.leave_out = dict(leave_out or {})
        self.note = note
        _check_declaration(self)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs in order; empty where the declaration gives none."""
        return tuple(self.values)

    @property
    def elementwise(self) -> bool:
        """Whether the inputs have any shapes that broadcast."""
        return self.signature.elementwise

    @property
    def mixes(self) -> bool:
        """Whether some input may have another floating dtype than the others."""
        return any([value.mixed for value in self.values.values()])

    def value(self, index: int) -> Input:
        """What the input at `index` holds; a repeated input has one declaration."""
        if not self.values:
            return real(-2, 2)
        return list(self.values.values())[min(index, len(self.values) - 1)]

    def check(self, label: str, names: Sequence[str], specs: Sequence[SpecLike]) -> None:
        """Raise InvalidType unless inputs with these specs fit.

        `label` names the op, `names` its inputs in order; the last name stands for all inputs of a
        repeated one.
        """
        try:
            self._check_count(len(specs))
            names = _names_for(names, len(specs), self.signature.variadic)
            self._check_dtypes(names, specs)
            shapes = [spec.shape for spec in specs]
            self.signature.match(names, shapes, same_group=self.differ is None)
        except InvalidType as error:
            error.operation = label
            raise

    def _check_count(self, given: int) -> None:
        least, most = self.signature.counts
        if least <= given and (most is None or given <= most):
            return
        if most is None:
            expect = f"at least {least} inputs"
        else:
            expect = f"{least} inputs" if least == most else f"{least} to {most} inputs"
        raise InvalidType(expect.replace("1 inputs", "1 input"), f"{given}")

    def _check_dtypes(self, names: Sequence[str], specs: Sequence[SpecLike]) -> None:
        first: tuple[str, str] | None = None
        for index, (name, spec) in enumerate(zip(names, specs, strict=True)):
            value = self.value(index)
            if spec.kind not in value.kinds:
                raise InvalidType(f"{name}.dtype is {_KIND_NAMES[value.what]}", spec.name)
            if not value.real or value.mixed:
                continue
            first = first or (name, spec.name)
            if spec.name != first[1]:
                raise InvalidType(f"{first[0]}.dtype == {name}.dtype", f"{first[1]} != {spec.name}")

    def __str__(self) -> str:
        parts = [str(self.signature)]
        parts += [f"{name}: {value}" for name, value in self.values.items()]
        parts += [f"{name}: {setting}" for name, setting in self.settings.items()]
        return "; ".join(parts) + (f" ({self.note})" if self.note else "")


_KIND_NAMES = {
    "real": "floating",
    "integer": "integral",
    "boolean": "bool",
    "number": "real-valued",
    "any dtype": "known",
    "any real dtype": "real-valued",
}


def _with_kinks(name: str, value: Input, kinks: tuple[float | str, ...]) -> Input:
    if not isinstance(value, Input):
        raise DeclarationError(
            f"Domain: {name}={value!r} is not a declaration of an input. "
            "Write real(lo, hi), numeric(lo, hi), integers(lo, hi), boolean() or anything()."
        )
    has_kinks = value.what in ("real", "number")
    return value._replace(kinks=value.kinks + kinks) if has_kinks else value


def _names_for(names: Sequence[str], count: int, variadic: bool) -> list[str]:
    if not variadic or len(names) == count:
        return list(names[:count])
    alone = list(names[:-1])
    return alone + [f"{names[-1]}[{i}]" for i in range(count - len(alone))]


def _check_declaration(domain: Domain) -> None:
    declared, found = len(domain.values), len(domain.signature.inputs)
    if declared not in (0, found):
        raise DeclarationError(
            f"Domain: the signature {str(domain.signature)!r} has {found} inputs, but {declared} "
            f"are declared ({', '.join(domain.values)}). Declare each input, or none."
        )
    _check_ranges(domain)
    _check_dims(domain)
    _check_settings(domain)
    _check_left_out(domain)


def _check_ranges(domain: Domain) -> None:
    for name, value in domain.values.items():
        if isinstance(value.hi, str):
            if value.what != "integer":
                raise DeclarationError(f"Domain: the range of {name} must end with a number.")
            _known(f"the range of {name}", value.hi, domain.signature.names, "dimension")
        elif value.lo >= value.hi:
            raise DeclarationError(
                f"Domain: the range of {name}, [{value.lo}, {value.hi}], is empty."
            )
        for kink in value.kinks:
            if isinstance(kink, str):
                _known(f"a kink of {name}", kink.lstrip("-"), domain.settings, "setting")


def _check_dims(domain: Domain) -> None:
    known = (*domain.signature.names, *domain.signature.groups)
    for name, sizes in domain.dims.items():
        _known("dims", name, known, "dimension")
        if callable(sizes):
            continue
        if not (isinstance(sizes, tuple) and len(sizes) == 2 and 0 <= sizes[0] <= sizes[1]):
            raise DeclarationError(
                f"Domain: dims[{name!r}] is {sizes!r}. "
                "Write a pair (least, greatest), or a function of the other sizes."
            )


def _check_settings(domain: Domain) -> None:
    for name, setting in domain.settings.items():
        if not isinstance(setting, Choice | Axes | Number):
            raise DeclarationError(
                f"Domain: the setting {name} is {setting!r}. "
                "Write choice(...), axes(of=...) or number(lo, hi)."
            )
        if isinstance(setting, Axes):
            _known(f"the setting {name}", setting.of, domain.values, "input")
    if domain.differ is not None:
        _known("differ", domain.differ, domain.settings, "setting")


def _check_left_out(domain: Domain) -> None:
    for check, reason in domain.leave_out.items():
        _known("leave_out", check, CHECKS, "check")
        _known(f"leave_out[{check!r}]", reason, REASONS, "reason")


def _known(where: str, name: str, known: Iterable[str], what: str) -> None:
    known = tuple(known)
    if name not in known:
        raise DeclarationError(
            f"Domain: {where} names {name!r}, which is no {what} of it. "
            f"There are: {', '.join(known) or 'none'}.{nearest(name, known)}"
        )
