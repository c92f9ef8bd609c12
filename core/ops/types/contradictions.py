"""What a domain must not say: refused when it is made."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from core.errors import DeclarationError, nearest
from core.ops.types.rules import Rule
from core.ops.types.values import Axes, Choice, Number

if TYPE_CHECKING:
    from core.ops.types.domain import Domain


def refuse_contradictions(domain: Domain) -> None:
    """Raise DeclarationError where no call could fit, or where a name means nothing."""
    for complaint in _complaints(domain):
        raise DeclarationError(f"Domain: {complaint}")
    for where, name, known, what in _names(domain):
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
        if not isinstance(value.hi, str):
            if value.lo >= value.hi:
                yield f"the range of {name}, [{value.lo}, {value.hi}], is empty."
        elif value.what != "integer":
            yield f"the range of {name} must end with a number."
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


def _names(domain: Domain) -> Iterator[tuple[str, str, Collection[str], str]]:
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
