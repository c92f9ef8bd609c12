"""Domains: what an op takes, as plain data.

One declaration serves three readers: the engine checks inputs against it and words the error, the
documentation prints it, and `core.testing` draws inputs from it. So it imports neither an array
library nor a test library.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import Any

from core.arrays.spec import Spec
from core.errors import DeclarationError, InvalidType, nearest
from core.ops.types.rules import FUNCTIONS, Rule, Scope, Shaped
from core.ops.types.shapes import Places, Signature
from core.ops.types.values import DTYPES, Axes, Choice, Input, Number, Setting, real
from core.registry.public import listing
from core.typing import Shape

__dir__ = listing(__name__)

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
    - `kinks`: kinks of every real input. `leave_out`: check -> one of the five reasons, as
      `core.testing` takes them; what has no gradient has no second one.

    `inputs` are the names of the inputs in order, none where the declaration gives none. A domain
    is `elementwise` where the inputs have any shapes that broadcast, and `mixes` where some input
    may have another floating dtype than the others.

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
        if not isinstance(signature, str):
            raise DeclarationError(
                f"Domain: expected a signature as text, got {signature!r:.60}. Inputs are given by "
                "name, as in Domain(x=real(-3, 3))."
            )
        everywhere = tuple(kinks)
        self.signature = Signature(signature or ",".join(["()"] * len(inputs)) + "->()")
        self.values = {k: _with_kinks(k, v, everywhere) for k, v in inputs.items()}
        self.settings: dict[str, Setting] = dict(settings or {})
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
        self.inputs = tuple(self.values)
        self.elementwise = self.signature.elementwise
        self.mixes = any([value.mixed for value in self.values.values()])
        _refuse_contradictions(self)

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
        self, label: str, names: Sequence[str], specs: Sequence[Spec], op: Any = None
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
        self, names: Sequence[str], specs: Sequence[Spec | Shaped], op: Any, *, drawn: bool = False
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
            if not isinstance(rule, Rule):
                rule(op, *specs)
            elif not rule.holds(scope.values):
                from core.ops.types.quotation import refusal  # not loaded before something is wrong

                raise refusal(rule.text, scope)

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
        some = f"{least} inputs" if least == most else f"{least} to {most} inputs"
        expect = f"at least {least} inputs" if most is None else some
        raise InvalidType(expect.replace("1 inputs", "1 input"), f"{given}")

    def _check_dtypes(self, names: Sequence[str], specs: Sequence[Spec]) -> None:
        first: tuple[str, str] | None = None
        for index, (name, spec) in enumerate(zip(names, specs, strict=True)):
            value = self.value(index)
            kinds, word = DTYPES[value.what]
            if spec.kind not in kinds:
                raise InvalidType(f"{name}.dtype is {word}", spec.name)
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


def _refuse_contradictions(domain: Domain) -> None:
    """Raise DeclarationError where no call could fit, or where a name means nothing."""
    for complaint in _complaints(domain):
        raise DeclarationError(f"Domain: {complaint}")
    for where, name, known, what in _mentioned(domain):
        if name not in known:
            raise DeclarationError(
                f"Domain: {where} names {name!r}, which is no {what} of it. "
                f"There are: {', '.join(known) or 'none'}.{nearest(name, known)}"
            )


def _complaints(domain: Domain) -> Iterator[str]:
    declared, found = len(domain.values), len(domain.signature.inputs)
    if declared not in (0, found):
        yield (
            f"the signature {str(domain.signature)!r} has {found} inputs, but {declared} are "
            f"declared ({', '.join(domain.values)}). Declare each input, or none."
        )
    for name, value in domain.values.items():
        expression = isinstance(value.hi, str) and value.what == "integer"
        ends: list[Any] = [value.lo] if expression else [value.lo, value.hi]
        shown = f"the range of {name}, [{value.lo}, {value.hi}],"
        if not all([isinstance(end, Real) and isfinite(end) for end in ends]):
            yield f"{shown} needs finite numbers, between which tests draw."
        elif ends[0] >= ends[-1] and not expression:
            yield f"{shown} is empty."
    for name, sizes in domain.dims.items():
        pair = isinstance(sizes, tuple) and len(sizes) == 2 and 0 <= sizes[0] <= sizes[1]
        if not pair and not callable(sizes):
            yield (
                f"dims[{name!r}] is {sizes!r}. "
                "Write a pair (least, greatest), or the size in the names of others, '4 * u'."
            )
    for name, setting in domain.settings.items():
        if not isinstance(setting, Choice | Axes | Number):
            yield (
                f"the setting {name} is {setting!r}. "
                "Write choice(...), axes(of=...) or number(lo, hi)."
            )


def _mentioned(domain: Domain) -> Iterator[tuple[str, str, Collection[str], str]]:
    """Every name that a domain mentions: where, the name, what there is, and what these are."""
    sizes, settings = domain.signature.names, domain.settings
    for name in domain.dims:
        yield "dims", name, (*sizes, *domain.signature.groups), "dimension"
    for name, value in domain.values.items():
        for kink in value.kinks:
            if isinstance(kink, str):
                yield f"a kink of {name}", kink.lstrip("-"), settings, "setting"
    for name, setting in settings.items():
        if isinstance(setting, Axes):
            yield f"the setting {name}", setting.of, domain.values, "input"
    if isinstance(domain.differ, str):
        yield "differ", domain.differ, settings, "setting"
    for where, rule in _rules(domain):
        for name in rule.needs:
            yield where, name, (*sizes, *domain.values, *settings), "dimension, input or setting"


def _rules(domain: Domain) -> Iterator[tuple[str, Rule]]:
    """What is computed of names, and where that stands."""
    rules, ends = (*domain.valid, *domain.drawn), domain.values.items()
    yield from [(f"the rule {rule.text!r}", rule) for rule in rules if type(rule) is Rule]
    yield from [(f"the range of {x}", Rule(v.hi)) for x, v in ends if isinstance(v.hi, str)]
