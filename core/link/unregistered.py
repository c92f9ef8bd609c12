"""Links and parameters that a model holds without owning them, so that no optimizer sees them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, NamedTuple

from core.link.chain import Chain
from core.link.link import Link
from core.link.parameter import Parameter

_MOST = 1000  # elements of one container that are looked at: longer ones are data
_SHOWN = 8
CONTAINERS = (Mapping, list, tuple, deque, AbstractSet)


class Held(NamedTuple):
    """What one attribute holds: with paths, and what to do."""

    values: list[tuple[str, Link | Parameter]]
    cure: str

    def __str__(self) -> str:
        shown = [f"{path} ({type(value).__name__})" for path, value in self.values[:_SHOWN]]
        left = len(self.values) - len(shown)
        return ", ".join(shown) + (f" and {left} more" if left else "") + f": {self.cure}"


def warning_of(who: str, target: Link) -> str:
    """What to warn about a link that `who` is to train; '' if all is well.

    >>> import core, core.links as L
    >>> class Tower(core.Chain):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.floors = [L.Linear(2, 2), L.Linear(2, 2)]
    >>> print(warning_of("SGD.setup", Tower()).splitlines()[1])
      /floors[0] (Linear), /floors[1] (Linear): make it core.ChainList(*self.floors), or a
      core.Sequential; set that inside `with self.init_scope():`
    """
    found = list(unregistered(target))
    text = ""
    if next(target.params(), None) is None:
        text = f" the {type(target).__name__} has no parameters, so that nothing will be trained."
    if found:
        lines = [f"\n  {held}" for held in found[:_SHOWN]]
        left = len(found) - len(lines)
        text += (
            " These are not registered, so they are neither trained nor saved nor moved:"
            + "".join(lines)
            + (f"\n  and {left} more attributes." if left else "")
            + "\nThis warning skips what is frozen by disable_update(), and what another optimizer "
            "trains, if that one is set up first."
        )
    elif text:
        text += " Set links and parameters as attributes inside `with self.init_scope():`."
    return f"{who}:{text}" if text else ""


def unregistered(target: Link) -> Iterator[Held]:
    """What attributes of the links of `target` hold that has parameters to train, and is not its.

    Attributes, those of the class too, and lists, tuples, deques, sets and dicts in them, are
    looked at. Left out is what has been taken care of: parameters that are registered somewhere in
    `target`, that are frozen (`disable_update`), that need no gradient, or that an optimizer trains
    already; and a link that has this one below it, such as a parent, which could not be registered
    here.
    """
    owned, seen = set(map(id, target.params())), set(map(id, target.links()))
    for path, link in target.namedlinks():
        for name, value in _attributes(link).items():
            held = [
                (at, part)
                for at, part in _held(f"{path.rstrip('/')}/{name}", value, seen)
                if _is_trainable(part, owned) and not _is_above(part, link)
            ]
            if held:
                yield Held(held, _cure(link, name, value, held[0][1]))


def _attributes(link: Link) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for owner in (*reversed(type(link).__mro__), link):
        found.update(vars(owner))
    return found


def _held(path: str, value: Any, seen: set[int]) -> Iterator[tuple[str, Link | Parameter]]:
    """The links and parameters in `value`, each met once."""
    if not isinstance(value, (Link, Parameter, *CONTAINERS)):
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (Link, Parameter)):
        yield path, value
        return
    parts = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, part in islice(parts, _MOST):
        yield from _held(f"{path}[{key!r}]", part, seen)


def _is_trainable(value: Link | Parameter, owned: set[int]) -> bool:
    parameters = value.params() if isinstance(value, Link) else [value]
    return any(
        id(each) not in owned and each.requires_grad and each.update_rule is None
        for each in parameters
    )


def _is_above(value: Link | Parameter, link: Link) -> bool:
    return isinstance(value, Link) and any(each is link for each in value.links())


def _cure(owner: Link, name: str, value: Any, first: Link | Parameter) -> str:
    scope = "inside `with self.init_scope():`"
    if isinstance(first, Parameter):
        return f"set {'it' if value is first else 'each as an attribute'} {scope}"
    if not isinstance(owner, Chain):
        scope += f" of a core.Chain, which {type(owner).__name__} is not"
    if value is first:
        return f"set it {scope}"
    if isinstance(value, Mapping):
        made, inner = f"core.ChainDict(self.{name})", value.values()
    else:
        made, inner = f"core.ChainList(*self.{name}), or a core.Sequential", value
    nested = any(isinstance(part, CONTAINERS) for part in islice(inner, _MOST))
    return f"make it {made}{', and also what is in it' * nested}; set that {scope}"
