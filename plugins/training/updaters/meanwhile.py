"""What others change in a model between its updates: the same in all copies of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from numbers import Number
from typing import Any, NamedTuple

from core import Link

_PLAIN = (Number, str, bytes, type(None))


class Changes(NamedTuple):
    """Paths of frozen parameters, and attributes of links that are others by now."""

    frozen: list[str]
    attributes: list[tuple[str, str, Any]]

    def make(self, model: Link) -> None:
        """Change a copy likewise: freeze these parameters and no others, set the attributes."""
        for path, parameter in model.namedparams():
            parameter.frozen = path in self.frozen
        links = dict(model.namedlinks()) if self.attributes else {}
        for path, name, value in self.attributes:
            vars(links[path])[name] = value


class Meanwhile:
    """Tells what has been changed in a model since it was `seen`: by extensions, say.

    Attributes are those that are numbers or text, or lists and tuples of them, as the rate of a
    dropout, or the weight of a part of the loss. What a forward pass changes by itself, as a count
    of calls, each copy changes by itself, and so do persistent values.

    >>> import core.links as L
    >>> model, copied = L.Linear(2, 1), L.Linear(2, 1)
    >>> meanwhile = Meanwhile()
    >>> meanwhile.see(model)
    >>> model.b.frozen, model.weight = True, 0.5
    >>> meanwhile.changes(model)
    Changes(frozen=['/b'], attributes=[('/', 'weight', 0.5)])
    >>> meanwhile.changes(model).make(copied)
    >>> copied.W.frozen, copied.b.frozen, copied.weight
    (False, True, 0.5)
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Any] = {}

    def see(self, model: Link) -> None:
        """Take the model as it is; lists may be changed in place later on."""
        self._seen = {(path, name): copy.deepcopy(x) for path, name, x in _attributes(model)}

    def changes(self, model: Link) -> Changes:
        """What has been changed since then."""
        frozen = [path for path, parameter in model.namedparams() if parameter.frozen]
        nothing = object()
        found = [
            (path, name, value)
            for path, name, value in _attributes(model)
            if self._seen.get((path, name), nothing) != value
        ]
        return Changes(frozen, found)


def _attributes(model: Link) -> Iterator[tuple[str, str, Any]]:
    for path, link in model.namedlinks():
        for name, value in vars(link).items():
            if _is_plain(value) and name not in link._persistent:
                yield path, name, value


def _is_plain(x: Any) -> bool:
    return isinstance(x, _PLAIN) or (type(x) in (list, tuple) and all(map(_is_plain, x)))
