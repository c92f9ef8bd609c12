"""Domains: what an op takes, as plain data.

One declaration serves three readers: the engine checks inputs against it and words the error, the
documentation prints it, and `core.testing` draws inputs from it. So it imports neither an array
library nor a test library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from core.errors import DeclarationError, InvalidType, nearest
from core.ops.types.rules import FUNCTIONS, Rule, Scope, Shaped
from core.ops.types.shapes import Places, Signature, as_axes, broadcast_shapes
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


class HasShape(Protocol):
    """What has a shape."""

    @property
    def shape(self) -> Shape: ...


class SpecLike(HasShape, Protocol):
    """What a check reads of an input: core.arrays.spec.Spec has it."""

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


def anything(lo: float = -3, hi: float = 3, *, mixed: bool = False) -> Input:
    """Values of any dtype: for ops that only move them or compare them.

    `mixed` ones may have another dtype than the others.
    """
    return Input("any dtype", "biufcV", lo, hi, mixed=mixed)


def ordered(lo: float = -3, hi: float = 3) -> Input:
    """Values of any dtype but complex ones, which have no order."""
    return Input("any real dtype", "biufV", lo, hi)


def integers(lo: int, hi: int | str, *, make: Callable[[Any, Any], Any] | None = None) -> Input:
    """Integers from `lo` up to, not including, `hi`: a number, or an expression as in a rule."""
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
    """A setting that is an axis of the input `of`, counted from either end.

    `many` allows a tuple of axes, `none` None, `beyond` says how many more axes the result has
    (expand_dims: 1), `permutation` asks for a tuple of all axes in some order, `nonempty` for axes
    that hold elements.
    """

    of: str
    many: bool = False
    none: bool = False
    beyond: int = 0
    permutation: bool = False
    nonempty: bool = False

    def check(self, value: Any, name: str, shape: Shape) -> None:
        """Raise InvalidType unless an input called `name` has the axes that the setting names."""
        if value is None and not self.nonempty:
            return
        ndim = len(shape) + self.beyond
        named = range(ndim) if value is None else as_axes(value)
        if self.permutation and len(named) != ndim:
            raise InvalidType(f"{name}.ndim == {len(named)}", f"{ndim} != {len(named)}")
        for a in named:
            if not -ndim <= a < ndim:
                least = (a if a >= 0 else -a) - self.beyond
                sign, but = (">", "<=") if a >= 0 else (">=", "<")
                raise InvalidType(f"{name}.ndim {sign} {least}", f"{len(shape)} {but} {least}")
            if self.nonempty and shape[a] == 0:
                raise InvalidType(f"{name}.shape[{a}] > 0", "0 <= 0")
        if len({a % ndim for a in named}) != len(named):
            expect = f"a permutation of {ndim} axes" if self.permutation else "axes that differ"
            raise InvalidType(expect, str(tuple(named)))

    def __str__(self) -> str:
        kinds = ["a permutation of the axes" if self.permutation else "an axis"]
        kinds += ["several axes"] * self.many + ["None"] * self.none
        return " or ".join(kinds) + f" of {self.of}" + ", not empty" * self.nonempty


axes = Axes


class Number(NamedTuple):
    """A setting from `lo` to `hi`, an integer where both are."""

    lo: float
    hi: float

    def __str__(self) -> str:
        return f"number in [{self.lo}, {self.hi}]"


number = Number

Setting = Choice | Axes | Number
Dimension = tuple[int, int] | str | Callable[[dict[str, Any]], Any]
Condition = str | Callable[..., None]


class Domain:
    """What an op takes: shapes as a signature (see core.ops.types.shapes), then its inputs by name.

    Without a signature the inputs have any shapes that broadcast.

    - `settings`: name -> choice(...), axes(...) or number(...); others keep their defaults.
    - `dims`: name of a dimension -> range of its size, both ends included (`...`: of the number of
      dimensions), in which tests draw it; or the size as text in the names of others, "4 * u",
      which calls are held to; or, where tests alone shall keep to it, a function that takes the
      other sizes by name and returns this one (`...`: the tuple of them). Without one sizes are 1
      to 4, and dots stand for up to three dimensions.
    - `empty`: whether dimensions without a range may be 0.
    - `differ`: the axis along which repeated inputs may differ in size, or the setting that names
      it.
    - `valid`: what else must hold, in order: rules as text (see core.ops.types.rules), and for what
      text cannot say functions that take the op and the specs of its inputs (of which a drawn case
      has only the `shape`) and raise InvalidType. `drawn`: what the cases that tests draw keep to
      as well.
    - `kinks`: kinks of every real input. `leave_out`: check -> one of the four REASONS; what has no
      gradient has no second one.

    >>> print(Domain("(n,k),(m,k)->(n,m)", x=real(-2, 2), W=real(-2, 2)))
    (n,k),(m,k)->(n,m); x: real in [-2, 2]; W: real in [-2, 2]
    """

    def __init__(
        self,
        signature: str = "",
        *,
        kinks: Iterable[float | str] = (),
        settings: Mapping[str, Setting] | None = None,
        dims: Mapping[str, Dimension] | None = None,
        differ: str | int | None = None,
        empty: bool = True,
        valid: Condition | Sequence[Condition] = (),
        drawn: Condition | Sequence[Condition] = (),
        leave_out: Mapping[str, str] | None = None,
        note: str = "",
        **inputs: Input,
    ) -> None:
        everywhere = tuple(kinks)
        self.signature = Signature(signature or ",".join(["()"] * len(inputs)) + "->()")
        self.values = {k: _with_kinks(k, v, everywhere) for k, v in inputs.items()}
        self.settings = dict(settings or {})
        self.dims = {k: Rule(v) if isinstance(v, str) else v for k, v in (dims or {}).items()}
        self.differ = differ
        self.empty = empty
        follow = [f"{name} == {v.text}" for name, v in self.dims.items() if isinstance(v, Rule)]
        self.valid = (*map(Rule, follow), *_conditions(valid))
        self.drawn = _conditions(drawn)
        self.leave_out = dict(leave_out or {})
        if "gradient" in self.leave_out:
            self.leave_out.setdefault("double_gradient", self.leave_out["gradient"])
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

    @property
    def reads_settings(self) -> bool:
        """Whether it depends on settings what inputs fit."""
        if any([isinstance(setting, Axes) for setting in self.settings.values()]):
            return True
        return any([not isinstance(r, Rule) or {*r.needs} & {*self.settings} for r in self.valid])

    def check(
        self, label: str, names: Sequence[str], specs: Sequence[SpecLike], op: Any = None
    ) -> None:
        """Raise InvalidType unless inputs with these specs fit.

        `label` names the op, `names` its inputs in order; the last name stands for all inputs of a
        repeated one. `op` has the settings.
        """
        try:
            self._check_count(len(specs))
            self._check_dtypes(_names_for(names, len(specs), self.signature.variadic), specs)
            self.check_shapes(names, specs, op)
        except InvalidType as error:
            error.operation = label
            raise

    def check_shapes(
        self, names: Sequence[str], specs: Sequence[HasShape], op: Any, *, drawn: bool = False
    ) -> None:
        """Raise InvalidType unless inputs of these shapes fit; `drawn` asks it for tests."""
        each = _names_for(names, len(specs), self.signature.variadic)
        shapes = [spec.shape for spec in specs]
        sizes = self._match(each, shapes)
        for setting, value in self.settings.items():
            if isinstance(value, Axes):
                i = self.inputs.index(value.of)
                value.check(getattr(op, setting, None), each[i], shapes[i])
        if self.differ is not None and op is not None:
            axis = getattr(op, self.differ) if isinstance(self.differ, str) else self.differ
            self._check_others(each, shapes, axis)
        rules = (*self.valid, *self.drawn) if drawn else self.valid
        if not rules:
            return
        scope = self.scope(names, shapes, op, sizes)
        for rule in rules:
            if isinstance(rule, Rule):
                rule.check(scope)
            else:
                rule(op, *specs)

    def scope(
        self, names: Sequence[str], shapes: Sequence[Shape], op: Any, sizes: Places | None = None
    ) -> Scope:
        """What names stand for in rules; `sizes` are those of the dimensions, where known."""
        if sizes is None:
            sizes = self._match(_names_for(names, len(shapes), self.signature.variadic), shapes)
        given: list[Any] = [Shaped(shape) for shape in shapes]
        if self.signature.variadic:
            alone = len(self.signature.inputs) - 1
            given[alone:] = [given[alone:]]
        values = {**FUNCTIONS, **dict(zip(names, given, strict=False))}
        values.update({name: getattr(op, name, None) for name in self.settings})
        values.update({name: size for name, (_, size) in sizes.items()})
        places = {name: name for name in names} | {name: at for name, (at, _) in sizes.items()}
        return Scope(values, places)

    def _match(self, names: Sequence[str], shapes: Sequence[Shape]) -> Places:
        return self.signature.match(names, shapes, same_group=self.differ is None)

    def _check_others(self, names: Sequence[str], shapes: Sequence[Shape], axis: Any) -> None:
        """Repeated inputs are alike but along one axis."""
        alone = len(self.signature.inputs) - 1
        first = shapes[alone]
        Axes("").check(axis, names[alone], first)
        for name, shape in zip(names[alone + 1 :], shapes[alone + 1 :], strict=True):
            for i, (n, expected) in enumerate(zip(shape, first, strict=True)):
                if n != expected and i != axis % len(first):
                    place = f"{name}.shape[{i}] == {names[alone]}.shape[{i}]"
                    raise InvalidType(place, f"{n} != {expected}")

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
        parts += [rule.text for rule in self.valid if isinstance(rule, Rule)]
        return "; ".join(parts) + (f" ({self.note})" if self.note else "")


_KIND_NAMES = {
    "real": "floating",
    "integer": "integral",
    "boolean": "bool",
    "number": "real-valued",
    "any dtype": "known",
    "any real dtype": "real-valued",
}


def _conditions(given: Condition | Sequence[Condition]) -> tuple[Rule | Callable[..., None], ...]:
    several = (given,) if isinstance(given, str) or callable(given) else given
    return tuple([Rule(rule) if isinstance(rule, str) else rule for rule in several])


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
    for rule in (*domain.valid, *domain.drawn):
        if isinstance(rule, Rule):
            _check_names(f"the rule {rule.text!r}", rule, domain)
    _check_left_out(domain)


def _check_ranges(domain: Domain) -> None:
    for name, value in domain.values.items():
        if isinstance(value.hi, str):
            if value.what != "integer":
                raise DeclarationError(f"Domain: the range of {name} must end with a number.")
            _check_names(f"the range of {name}", Rule(value.hi), domain)
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
                "Write a pair (least, greatest), or the size in the names of others, '4 * u'."
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
    if isinstance(domain.differ, str):
        _known("differ", domain.differ, domain.settings, "setting")


def _check_names(where: str, rule: Rule, domain: Domain) -> None:
    known = (*domain.signature.names, *domain.inputs, *domain.settings)
    for name in rule.needs:
        _known(where, name, known, "dimension, input or setting")


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
