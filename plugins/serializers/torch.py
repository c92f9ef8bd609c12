"""Weights of PyTorch's models in links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Any

import numpy as np

from core import Link, Parameter
from core.errors import CheckpointError
from core.errors.kinds import checked
from plugins.serializers.entries import Array, File, contents, is_none
from plugins.serializers.loading import EntriesDeserializer, load_entries
from plugins.serializers.matching import (
    Mapped,
    Matches,
    Matching,
    check_link,
    joined,
    renamed,
    shapes_of,
)
from plugins.serializers.safetensors_file import TensorEntries
from plugins.serializers.shards import gathered, index_of
from plugins.serializers.torch_file import EXTRA, tensors_of
from plugins.serializers.torch_names import Part, Unit, units_of
from plugins.serializers.torch_norms import put_together


@checked
def load_torch(
    file: File, model: Link, mapping: Mapped = None, *, dry_run: bool = False
) -> Matches:
    """Load the tensors of a PyTorch model into a link, completely or not at all.

    The file is one of `torch.save(module.state_dict(), ...)`, a safetensors file, or the index of
    several, as `model.safetensors.index.json`; nothing in it is run, and PyTorch need not be
    installed. Where all modules have the paths of the links, behind a beginning that they may share
    (`module.` of one that was wrapped), tensors are matched by path; otherwise in the order of
    their definition, where all shapes fit (in a safetensors file, which has none, in that of their
    names and numbers, where these and the shapes tell modules apart). `weight` and `bias` are W and
    b, or gamma and beta; gates of recurrent layers are put in order, what PyTorch keeps in one
    tensor is taken apart, and weight and spectral normalization are applied. Biases are 0 where the
    module had none (`bias=False`).

    Args:
        file: A path, or a file open for reading bytes.
        model: A link; sizes that are open follow from the tensors.
        mapping: New names for tensors: a dict from their beginnings to others (a path in the model,
            with dots), or a function of a name; None leaves a tensor out.
        dry_run: Load nothing, and return what would be loaded.

    Returns:
        The matches, a list of `entries`, `tensors`, `shape` and `how`, shown as a table.

    Raises:
        CheckpointError: Tensors are missing, left over or of other shapes, or nothing tells which
            is which; the message has the table as far as it goes. Or the model has other things
            than plain tensors; beside it a checkpoint may have anything.
        CheckpointDamaged: It is not such a file.

    >>> import core.links as L, core.serializers as S, io, numpy as np
    >>> file = io.BytesIO()
    >>> S.save_safetensors(file, {"fc.weight": np.ones((2, 3), "f"), "fc.bias": np.zeros(2, "f")})
    >>> _ = file.seek(0)
    >>> print(load_torch(file, L.Linear(3, 2)))
    model  file       shape
    W      fc.weight  (2, 3)
    b      fc.bias    (2,)
    """
    check_link("load_torch", model)
    tensors, label, ordered = _read(file)
    tensors, called = _renamed(put_together(tensors), mapping)
    matches, found = _Matching(model, tensors, label, called, ordered).match()
    if not dry_run:
        load_entries("load_torch", model, EntriesDeserializer(found))
    return matches


def _read(file: Any) -> tuple[dict[str, Array], str, bool]:
    """The tensors, what the file is called, and whether their order is that of the modules."""
    data, label = contents("load_torch", file)
    if (index := index_of(data)) is not None:
        ordered = []

        def read(path: Any) -> dict[str, Array]:
            tensors, _, in_order = _read(path)
            ordered.append(in_order)
            return tensors

        return gathered(index, file, label, read), label, all(ordered)
    if data[:2] == b"PK" or data[8:9] != b"{":
        return tensors_of(data, label), label, True
    entries = TensorEntries(data, label)
    return {name: entries[name] for name in sorted(entries.specs, key=_numbered)}, label, False


def _numbered(name: str) -> list[tuple[int, str]]:
    """Names in order, numbers in them by size."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _letters(name: str) -> str:
    return re.sub(r"\d+", "0", name)


def _renamed(tensors: dict[str, Array], mapping: Mapped) -> tuple[dict[str, Array], dict[str, str]]:
    """The tensors by their new names, and what these are called in the file."""
    found: dict[str, Array] = {}
    called: dict[str, str] = {}
    for name, array in tensors.items():
        new = renamed(name, mapping)
        if new is None:
            continue
        if new in found:
            raise CheckpointError(
                f"load_torch: expected another name for each tensor, got {new!r} for two."
            )
        found[new], called[new] = array, name
    return found, called


class _Matching(Matching):
    def __init__(
        self,
        model: Link,
        tensors: dict[str, Array],
        label: str,
        called: Mapping[str, str],
        ordered: bool,
    ) -> None:
        super().__init__("load_torch", model, label)
        self._called, self._ordered = called, ordered
        self._tensors = tensors
        self._place = {name: i for i, name in enumerate(tensors)}
        self._units = units_of(model, self.entries, set(tensors))
        self._tied = tied(model, self.entries)
        self._used: set[str] = set()

    def match(self) -> tuple[Matches, dict[str, Array]]:
        """The matches, and the arrays by entry; raises where anything does not fit."""
        by_path = self._by_path()
        prefixes = by_path or self._in_order()
        if not by_path:
            self.problems += self._doubts(prefixes)
        for unit, prefix in zip(self._units, prefixes, strict=False):
            for part in unit.parts:
                self._match(unit, part, prefix)
        for unit in self._units[len(prefixes) :]:
            self.problems += self._unmatched(unit)
        rest = [name for name in self._tensors if name not in self._used]
        self.leave([name for name in rest if not name.endswith(("num_batches_tracked", EXTRA))])
        self.problems += self._untied(self.found)
        return self.done("tensors")

    def _match(self, unit: Unit, part: Part, prefix: str | None) -> None:
        """Take the tensors of a part of a module, or say why not."""
        names, made = self._names(part, prefix), None
        if names is not None:
            made = self._converted(unit, part, names)
        elif self._spare(unit, part):
            return
        elif self._left_out(part, prefix):
            names, made = (), self._zeros(unit, part)
        if names is None or made is None:
            self.problems += self._problem(unit, part, prefix, names)
            return
        self._used.update(names)
        given = [self._tensors[name] for name in names]
        self.add(made, [self._called[name] for name in names], given, part.how if names else "0")

    def _doubts(self, prefixes: list[str | None]) -> Iterator[str]:
        """What is said of modules of which their order does not tell which is which."""
        matched = [(u, p) for u, p in zip(self._units, prefixes, strict=False) if p is not None]
        shared = ".".join(self._shared())
        for unit, prefix in matched:
            yield from self._displaced(unit, prefix, shared)
        kinds = {self._kind(*each): each for each in reversed(matched)}  # the first of each kind
        pairs = () if self._ordered else combinations(reversed(kinds.values()), 2)
        either = next((pair for pair in pairs if self._are_alike(*pair)), None)
        if either is not None:
            (one, first), (other, second) = either
            yield (
                f"{one.path}, {other.path}: {first} and {second} fit either, and the file has "
                "no order"
            )

    def _displaced(self, unit: Unit, prefix: str, shared: str) -> Iterator[str]:
        """What is said where another module stands in the place of one that has a link's path."""
        path = unit.path.replace("/", ".")
        numbered = any([c.isdigit() for c in path])  # of layers that may be counted otherwise
        owns = [_dotted(each, path) for each in ("", shared)]
        if path and not numbered and prefix not in owns:
            for own in [each for each in owns if self._fit(unit, each)][:1]:
                yield f"{unit.path}: {own} is there, too, but {prefix} stands in its place"

    def _kind(self, unit: Unit, prefix: str) -> tuple[Any, ...]:
        """What `_are_alike` looks at, of a module and of what stands for it: names and shapes."""
        entries = [name for part in unit.parts for name in _entries(unit, part)]
        shapes = [(name in self._tied, self.entries[name].shape) for name in entries]
        names = [self._names(part, prefix) or () for part in unit.parts]
        there = [self._tensors[n].shape for each in names for n in each]
        called = [(part.entries, part.tensors, part.how) for part in unit.parts]
        return _letters(prefix), tuple(called), tuple(shapes), tuple(there)

    def _are_alike(self, one: tuple[Unit, str], other: tuple[Unit, str]) -> bool:
        """Whether two modules could stand in the place of each other, and no numbers order them."""
        (unit, prefix), (second, there) = one, other
        if _letters(prefix) == _letters(there):
            return False
        return bool(self._fit(unit, there) and self._fit(second, prefix))

    def _untied(self, found: dict[str, Array]) -> Iterator[str]:
        """Give a parameter that has several names one array; what is said where these differ."""
        for name, first in self._tied.items():
            known = [found[each] for each in (first, name) if each in found]
            if len(known) == 2 and known[0].tobytes() != known[1].tobytes():
                yield (
                    f"{first} and {name} are one parameter here, and tensors that differ there; "
                    "leave one out by mapping="
                )
            if known:
                found[first] = found[name] = known[0]

    def _spare(self, unit: Unit, part: Part) -> bool:
        """Whether a file may lack it: older ones have no counts, others a shared tensor once."""
        return part.entries == ("N",) or all([n in self._tied for n in _entries(unit, part)])

    def _left_out(self, part: Part, prefix: str | None) -> bool:
        """Whether the module was made without what the part stands for."""
        return part.optional and not any([self._given(each, prefix) for each in part.tensors])

    def _zeros(self, unit: Unit, part: Part) -> dict[str, Array] | None:
        """Arrays of 0 for the entries of a part; None where their sizes are not known yet."""
        known = {name: self.entries[name] for name in _entries(unit, part)}
        if any(map(is_none, known.values())):
            return None
        return {name: np.zeros_like(array) for name, array in known.items()}

    def _unmatched(self, unit: Unit) -> Iterator[str]:
        """What is said of a link for which there is no module: what its own path lacks, if any."""
        prefix = unit.path.replace("/", ".")
        names = [self._names(part, prefix) for part in unit.parts]
        if not any(names):
            yield f"{unit.path or 'the model'}: no tensors of its shapes come next"
            return
        for part, found in zip(unit.parts, names, strict=True):
            if found is None or self._converted(unit, part, found) is None:
                yield from self._problem(unit, part, prefix, found)

    def _problem(
        self, unit: Unit, part: Part, prefix: str | None, names: tuple[str, ...] | None
    ) -> Iterator[str]:
        entries = ", ".join(_entries(unit, part))
        if names is not None:
            shapes = shapes_of([self._tensors[name] for name in names])
            yield f"{entries}: {', '.join(names)} of {shapes} does not fit"
        else:
            wanted = [" or ".join([_dotted(prefix, t) for t in each]) for each in part.tensors]
            yield f"{entries}: there is no {', '.join(wanted)}"

    def _names(self, part: Part, prefix: str | None) -> tuple[str, ...] | None:
        """What the tensors of a part are called; None where one is missing."""
        found = [self._given(each, prefix) for each in part.tensors]
        names = [name for name in found if name is not None]
        return tuple(names) if len(names) == len(found) else None

    def _given(self, names: tuple[str, ...], prefix: str | None) -> str | None:
        """Under which of its names a tensor is there, if it is."""
        there = [n for n in [_dotted(prefix, name) for name in names] if n in self._tensors]
        return there[0] if there and prefix is not None else None

    def _converted(self, unit: Unit, part: Part, names: tuple[str, ...]) -> dict[str, Array] | None:
        """The arrays of a part by entry; None where they do not fit."""
        try:
            made = part.convert(*[self._tensors[name] for name in names])
        except ValueError:
            return None
        return self.fitting(unit.path, dict(zip(part.entries, made, strict=True)))

    def _by_path(self) -> list[str | None] | None:
        """The paths of the links, where the file has all modules under them.

        Or under a beginning that all tensors share, as of a model that is wrapped.
        """
        shared = self._shared()
        wrapped = [".".join(shared[:n]) for n in range(len(shared) + 1)]
        return next(filter(None, map(self._under, wrapped)), None)

    def _shared(self) -> list[str]:
        """The modules that all tensors lie in."""
        modules = [name.split(".")[:-1] for name in self._tensors]
        alike = [len({*parts}) == 1 for parts in zip(*modules, strict=False)]
        return modules[0][: [*alike, False].index(False)] if modules else []

    def _under(self, beginning: str) -> list[str | None] | None:
        """The paths of the links behind a beginning, where the file has all modules so."""
        prefixes = [_dotted(beginning, unit.path.replace("/", ".")) for unit in self._units]
        for unit, prefix in zip(self._units, prefixes, strict=True):
            needed = [part for part in unit.parts if not self._spare(unit, part)]
            needed = [part for part in needed if not self._left_out(part, prefix)]
            if any([self._names(part, prefix) is None for part in needed]):
                return None
        return [*prefixes]

    def _in_order(self) -> list[str | None]:
        """For each unit the next module whose tensors fit, as long as there is one.

        None stands for one whose tensors a file may lack.
        """
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for name, place in self._place.items():
            parts = name.split(".")
            for n in range(len(parts)):
                prefix = ".".join(parts[:n])
                first.setdefault(prefix, place)
                last[prefix] = place
        ahead = sorted(first, key=lambda b: (first[b], -len(b)))
        begun: list[str] = []
        found: list[str | None] = []
        least = at = 0
        for unit in self._units:
            while at < len(ahead) and first[ahead[at]] <= least:
                begun.append(ahead[at])
                at += 1
            begun = [b for b in begun if last[b] >= least]
            inner = sorted(begun, key=len, reverse=True)
            for prefix in chain(inner, map(ahead.__getitem__, range(at, len(ahead)))):
                places = self._fit(unit, prefix)
                if places and min(places) >= least:
                    found.append(prefix)
                    least = max(places) + 1
                    break
            else:
                if not all([self._spare(unit, part) for part in unit.parts]):
                    break
                found.append(None)
        return found

    def _fit(self, unit: Unit, prefix: str) -> list[int]:
        places = []
        for part in unit.parts:
            names = self._names(part, prefix)
            if names is None and (self._spare(unit, part) or self._left_out(part, prefix)):
                continue
            if names is None or self._converted(unit, part, names) is None:
                return []
            places += [self._place[name] for name in names]
        return places


def _entries(unit: Unit, part: Part) -> list[str]:
    return [joined(unit.path, name) for name in part.entries]


def tied(model: Link, entries: Mapping[str, Any]) -> dict[str, str]:
    """Names of parameters that have another name before, and that name."""
    links = {path.strip("/"): link for path, link in model.namedlinks()}
    first: dict[int, str] = {}
    found: dict[str, str] = {}
    for name in entries:
        path, _, own = name.rpartition("/")
        parameter = getattr(links.get(path), own, None)
        if isinstance(parameter, Parameter) and first.setdefault(id(parameter), name) != name:
            found[name] = first[id(parameter)]
    return found


def _dotted(*parts: str | None) -> str:
    return ".".join(filter(None, parts))
