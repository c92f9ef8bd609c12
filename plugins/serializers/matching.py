"""What weights of other libraries have to do with a model's entries: which are which, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from core import Link
from core.errors import CheckpointError
from plugins.serializers.dictionary import values_of
from plugins.serializers.entries import Array, is_none

Mapped: TypeAlias = Mapping[str, str | None] | Callable[[str], str | None] | None
Unit = TypeVar("Unit")
Rule = TypeVar("Rule")


class Row(NamedTuple):
    """One line of the table: entries of the model, the tensors they are made of, and how."""

    entries: tuple[str, ...]
    tensors: tuple[str, ...]
    shape: str
    how: str


class Matches(list[Row]):
    """What is loaded from where; shown as a table."""

    def __str__(self) -> str:
        rows = [("model", "file", "shape", "")]
        rows += [(", ".join(r.entries), ", ".join(r.tensors), r.shape, r.how) for r in self]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [
            "  ".join([*[cell.ljust(n) for cell, n in zip(row, widths, strict=False)], row[3]])
            for row in rows
        ]
        return "\n".join([line.rstrip() for line in lines])

    __repr__ = __str__


class Matching:
    """The entries of a model, what has been found for them in a file, and what is wrong."""

    def __init__(self, who: str, model: Link, label: str) -> None:
        self.label = label
        self.entries = values_of(who, model)
        self.matches = Matches()
        self.found: dict[str, Array] = {}
        self.problems: list[str] = []

    def fitting(self, path: str, made: Mapping[str, Array]) -> dict[str, Array] | None:
        """Arrays of the link at `path` by entry; None where it has none so called, or so shaped."""
        found = {}
        for name, array in made.items():
            known = self.entries.get(joined(path, name))
            if known is None or (not is_none(known) and known.shape != array.shape):
                return None
            found[joined(path, name)] = np.ascontiguousarray(array).reshape(array.shape)
        return found

    def add(
        self, made: Mapping[str, Array], called: Iterable[str], given: Iterable[Array], how: str
    ) -> None:
        """Take arrays by entry, which are made of what is called so in the file."""
        self.found |= made
        self.matches.append(Row((*made,), (*called,), shapes_of(given), how))

    def leave(self, names: Sequence[str]) -> None:
        """Say what of the file is left over."""
        if names:
            self.problems.append(f"left over: {', '.join(names[:8])}{', ...' * (len(names) > 8)}")

    def done(self, what: str) -> tuple[Matches, dict[str, Array]]:
        """The matches, and the arrays by entry; raises where anything is wrong."""
        if self.problems:
            raise CheckpointError(
                f"{self.label}: expected the {what} of the model, got others:\n  "
                + "\n  ".join(self.problems)
                + "\nNothing was loaded. Say by mapping= what is what. Matched so far:\n"
                + str(self.matches)
            )
        return self.matches, self.entries | self.found


def joined(path: str, name: str) -> str:
    """The name of what belongs to the link at `path`."""
    return f"{path}/{name}" if path else name


def shapes_of(arrays: Iterable[Array]) -> str:
    """Shapes, in words."""
    return ", ".join([str(array.shape) for array in arrays])


def renamed(name: str, mapping: Mapped) -> str | None:
    """The name that a mapping gives, in a dict to its longest known beginning; None for none."""
    if mapping is None:
        return name
    if callable(mapping):
        new = mapping(name)
        _refuse_others({name: new})
        return new
    if not isinstance(mapping, Mapping):
        raise TypeError(
            "mapping: expected a dict from beginnings of names to other ones, or a function of a "
            f"name, got {mapping!r}"
        )
    _refuse_others(mapping)
    mapping = {key.strip("/").replace("/", "."): new for key, new in mapping.items()}
    parts = name.split(".")
    for n in range(len(parts), -1, -1):
        beginning = ".".join(parts[:n])
        if beginning in mapping:
            new = mapping[beginning]
            if new is None:
                return None
            return ".".join([*filter(None, [new.strip("/").replace("/", ".")]), *parts[n:]])
    return name


def _refuse_others(mapping: Mapping[Any, Any]) -> None:
    for name, new in mapping.items():
        if not isinstance(name, str) or not isinstance(new, str | None):
            raise TypeError(
                "mapping: expected a name for each name, or None for what is left out, got "
                f"{new!r:.60} for {name!r:.60}."
            )


def check_link(who: str, model: Any) -> None:
    """Raise TypeError, in the name of `who`, for what is no link."""
    if not isinstance(model, Link):
        raise TypeError(
            f"{who}: expected a path or file and then a link, whose arrays these are; got "
            f"{model!r:.60}."
        )


def units_in(
    model: Link,
    whole: Callable[[Any, str], Iterable[Unit]],
    alone: Callable[[Any, str], Iterable[Unit]],
) -> Iterator[Unit]:
    """What the links of a model stand for, in the order of their definition.

    That is what `whole` makes of a link and all below it, by its path, or where this is nothing,
    what `alone` makes of the link itself.
    """
    covered: list[str] = []
    for path, link in model.namedlinks():
        here = path.strip("/")
        if any([not each or here.startswith(f"{each}/") for each in covered]):
            continue
        units = [*whole(link, here)]
        if units:
            covered.append(here)
        yield from units or alone(link, here)


def rule_of(rules: Mapping[str, Rule], link: Any) -> Rule | None:
    """The rule for a link, by the name of its class or of the nearest one that has a rule."""
    return next((rules[c.__name__] for c in type(link).__mro__ if c.__name__ in rules), None)
