"""Loading from named arrays into objects: reported as a whole, all or nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Self, TypeAlias

import numpy as np

from core.arrays import backend
from core.errors import CheckpointError, nearest, place
from core.link.serializer import Deserializer, Serializable, Serializer
from plugins.serializers.dictionary import check_serializable
from plugins.serializers.entries import BESIDE, Array, is_none
from plugins.serializers.extended_dtypes import restored

Ignored: TypeAlias = str | Callable[[str], bool] | Iterable[str | Callable[[str], bool]] | None


def load_entries(who: str, obj: Serializable, source: EntriesDeserializer) -> None:
    """Load `obj` from all that a file holds, completely or not at all.

    All names, shapes and dtypes are compared first: one CheckpointError, by the name of `who`
    loads, tells everything that does not fit. Entries that nothing asked for cause a warning.
    """
    check_serializable(who, obj)
    before = _Outline()
    before.save(obj)
    source.known = max(
        (v.nbytes for v in before.values.values() if hasattr(v, "nbytes")), default=0
    )
    cautions = before.cautions if not getattr(source.entries, "signed", True) else {}
    _check_fit(who, before, source, obj, "".join([f"\n{text}" for text in cautions]))
    copies = {name: _copied(value) for name, value in before.values.items()}
    try:
        source.load(obj)
    except BaseException:
        with suppress(Exception):  # the object's own error is the one to be seen
            _Restorer(copies).load(obj)
        raise
    _warn_of_unused(who, source)
    _warn_of_lacking(who, before, source)
    _warn_of_kept(who, before, source, obj)
    for text in cautions:
        place.warn(f"{who}: the file has been written by another program. {text}")


class EntriesDeserializer(Deserializer):
    """Loads from `entries`, a mapping of slash-separated names to arrays.

    A mapping that has `specs` (name -> shape, dtype, whether it is None) is compared by these.
    Raises CheckpointError at the first value that is missing (unless `strict` is False) or does
    not fit; `load_entries` compares everything before it loads anything.
    """

    def __init__(
        self,
        entries: Mapping[str, Any],
        path: str = "",
        strict: bool = True,
        ignore_names: Ignored = None,
    ) -> None:
        self.entries = entries
        self.path = path if not path or path.endswith("/") else path + "/"
        self.strict = strict
        self.ignore_names = _rules(ignore_names)
        self.asked: set[str] = set()
        self.known = 0  # bytes of the largest array that is loaded into

    def __getitem__(self, key: str) -> Self:
        child = copy.copy(self)
        child.path = f"{self.path}{key.strip('/')}/"
        return child

    def optional(self, key: str) -> Self:
        """The same for a part that the file may lack as a whole."""
        child = self[key]
        child.strict = self.strict and not self.lacks(key)
        return child

    def optional_value(self, key: str, value: Any) -> Any:
        """The same as a call for a value that the file may lack."""
        return self(key, value) if self.path + key.lstrip("/") in self.entries else value

    def of_any_shape(self, key: str, value: Any) -> Any:
        """The stored array, whatever its shape; `value` where there is none to be loaded."""
        name = self.path + key.lstrip("/")
        there = name in self.entries and not self.ignores(name)
        return self(key, None if there else value)

    def lacks(self, key: str) -> bool:
        """Whether there is neither a value nor a part of this name."""
        name = self.path + key.strip("/")
        return name not in self.entries and not any(
            other.startswith(name + "/") for other in self.entries
        )

    def __call__(self, key: str, value: Any) -> Any:
        """The stored value of `key`: written into `value` if that is an array, else returned."""
        name = self.path + key.lstrip("/")
        self.asked.add(name)
        if self.ignores(name):
            return value
        if name not in self.entries:
            if self.strict:
                raise CheckpointError(
                    f"{type(self).__name__}: expected an entry {name!r}, found none."
                    + nearest(name, self.entries)
                )
            return value
        problem = self.misfit(value, name)
        if problem:
            raise CheckpointError(f"load: {name!r}: {problem}.")
        stored = restored(np.asarray(self.entries[name]))
        return None if is_none(stored) else _fill(name, value, stored)

    def statement(self, key: str, text: str, misfit: Callable[[str], str]) -> None:
        """Refuse a state that belongs to something else; raises CheckpointError."""
        name = self.path + key.lstrip("/")
        self.asked.add(name)
        problem = self.contradiction(name, misfit)
        if problem:
            raise CheckpointError(f"load: {name!r}: {problem}")

    def contradiction(self, name: str, misfit: Callable[[str], str]) -> str:
        """What the statement under `name` says against loading; '' where it or all is well."""
        if name not in self.entries or self.ignores(name):
            return ""
        problem = self.misfit(None, name)
        if not problem:
            stored = np.asarray(self.entries[name])
            try:
                problem = misfit(stored.astype(np.uint8, casting="safe").tobytes().decode())
            except (TypeError, ValueError) as error:
                problem = f"it cannot be read ({error})"
        return problem and f"{problem}. With ignore_names={name!r} it is loaded all the same."

    def misfit(self, value: Any, name: str) -> str:
        """What keeps an entry from being loaded into `value`, as far as is known unread."""
        specs = getattr(self.entries, "specs", None)
        if specs is None or specs[name].none:
            return ""
        spec = specs[name]
        problem = "" if value is None else _misfit(value, spec.shape, spec.dtype)
        return problem or ("" if _is_array(value) else spec.excess(self.known))

    def ignores(self, name: str) -> bool:
        """Whether the entry is one of those not to be loaded."""
        return any(rule(name) if callable(rule) else rule == name for rule in self.ignore_names)


def _rules(ignored: Ignored) -> tuple[str | Callable[[str], bool], ...]:
    """The names and predicates, which are asked more than once, whatever they come in."""
    if ignored is None:
        return ()
    return (ignored,) if isinstance(ignored, str) or callable(ignored) else tuple(ignored)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__dlpack__")


def _fill(name: str, value: Any, stored: Array) -> Any:
    if value is None:
        return stored
    problem = _misfit(value, stored.shape, stored.dtype)
    if problem:
        raise CheckpointError(f"load: {name!r}: {problem}.")
    if not _is_array(value):
        return _converted(value, stored)
    owner = backend.of(value)
    wanted = _dtype_of(value)
    _check_held(name, stored, wanted)
    stored = owner.asarray(stored, dtype=wanted, device=owner.device_of(value))
    return owner.copyto(value, stored)


def _check_held(name: str, stored: Array, wanted: Any) -> None:
    """Refuse numbers that fewer bits, or no sign, would make others of, and floats infinite."""
    kind = {"i": "integers", "u": "integers", "f": "numbers", "c": "numbers"}.get(stored.dtype.kind)
    if kind is None or np.can_cast(stored.dtype, wanted):
        return
    parts = np.array([stored.real, stored.imag]) if stored.dtype.kind == "c" else stored
    finite = parts[np.isfinite(parts)]
    if not finite.size:
        return
    ends = np.array([finite.min(), finite.max()])
    with np.errstate(over="ignore"):
        held = ends.astype(wanted)
    whole = kind == "integers" and "int" in str(wanted)
    if held.tolist() != ends.tolist() if whole else not np.isfinite(held).all():
        raise CheckpointError(
            f"load: {name!r}: expected {kind} that {wanted} can hold, the file has some from "
            f"{ends[0]} to {ends[1]}. Load them into an array of {stored.dtype}."
        )


def _converted(value: Any, stored: Array) -> Any:
    """The stored number or text as what `value` is, unless that would change it (2.5 to an int)."""
    if isinstance(value, list | tuple):
        return type(value)(stored.tolist())
    found = stored.item()
    converted = type(value)(stored)
    return converted if converted == found else found


def _misfit(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    """What keeps an array of this shape and dtype from being loaded into `value`; '' if nothing."""
    if isinstance(value, list | tuple):
        return "" if shape else "expected a sequence, the file has a single value"
    if not _is_array(value):
        if shape:
            return f"expected a single value, the file has an array of shape {shape}"
        is_text, takes_text = dtype.kind in "US", isinstance(value, str | bytes)
        fits = is_text == takes_text and (dtype.kind != "c" or np.iscomplexobj(value))
        return "" if fits else f"expected {value!r:.40} or similar, not {dtype}"
    if tuple(value.shape) != shape:
        return f"shape {tuple(value.shape)} expected, the file has {shape}"
    wanted = _dtype_of(value)
    if not np.can_cast(dtype, wanted, "safe" if dtype.kind in "US" else "same_kind"):
        return f"dtype {wanted} expected, the file has {dtype}"
    owner = backend.of(value)
    if owner.mutable and not owner.writable(value):
        return "an array that can be changed expected, it is read-only here: set a copy of it"
    return ""


def _dtype_of(array: Any) -> Any:
    """The dtype as NumPy takes it, which has no name for text of some length."""
    name = backend.of(array).dtype_name(array.dtype)
    return array.dtype if isinstance(array, np.ndarray) else name


# -- all or nothing ---------------------------------------------------------------------------


class _Outline(Serializer):
    """Notes every name with the value it stands for; copies nothing."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.optional_parts: set[str] = set()
        self.optional_values: set[str] = set()
        self.shapeless: set[str] = set()
        self.statements: dict[str, Callable[[str], str]] = {}
        self.cautions: dict[str, None] = {}
        self.path = ""

    def __getitem__(self, key: str) -> _Outline:
        child = copy.copy(self)
        child.path = f"{self.path}{key.strip('/')}/"
        return child

    def optional(self, key: str) -> _Outline:
        child = self[key]
        self.optional_parts.add(child.path)
        return child

    def optional_value(self, key: str, value: Any) -> Any:
        self.optional_values.add(self.path + key.lstrip("/"))
        return self(key, value)

    def of_any_shape(self, key: str, value: Any) -> Any:
        self.shapeless.add(self.path + key.lstrip("/"))
        return self(key, value)

    def __call__(self, key: str, value: Any) -> Any:
        self.values[self.path + key.lstrip("/")] = value
        return value

    def statement(self, key: str, text: str, misfit: Callable[[str], str]) -> None:
        self.statements[self.path + key.lstrip("/")] = misfit

    def caution(self, text: str) -> None:
        self.cautions[f"/{self.path.rstrip('/')}: {text}"] = None

    def asked_for(self, source: EntriesDeserializer) -> dict[str, Any]:
        """The values, but for those that `source` lacks and may lack; None for parts it may lack.

        An optional part is what an object has at the moment, and so may have other shapes.
        """
        lacking = tuple(part for part in self.optional_parts if source.lacks(part))
        optional = tuple(self.optional_parts)
        return {
            name: None if name.startswith(optional) or name in self.shapeless else value
            for name, value in self.values.items()
            if not name.startswith(lacking)
            and not (name in self.optional_values and source.lacks(name))
        }


class _Restorer(Deserializer):
    """Gives every name the value that it had; what had no name then stays."""

    def __init__(self, values: dict[str, Any], path: str = "") -> None:
        self.values = values
        self.path = path

    def __getitem__(self, key: str) -> _Restorer:
        return _Restorer(self.values, f"{self.path}{key.strip('/')}/")

    def __call__(self, key: str, value: Any) -> Any:
        present = self.values.get(self.path + key.lstrip("/"), value)
        if _is_array(present) and _is_array(value) and present is not value:
            return backend.of(value).copyto(value, present)
        return present

    def of_any_shape(self, key: str, value: Any) -> Any:
        return self.values.get(self.path + key.lstrip("/"), value)


def _copied(value: Any) -> Any:
    return backend.of(value).copy(value) if _is_array(value) else value


def _torn(values: Mapping[str, Any], archive: Mapping[str, Any]) -> dict[str, str]:
    """What is wrong with entries for an array that has another name too, with other numbers."""
    first: dict[int, str] = {}
    found = {}
    for name, value in values.items():
        other = first.setdefault(id(value), name) if _is_array(value) else name
        if other != name and _bytes(archive, name) != _bytes(archive, other):
            found[name] = f"it is one array with {other}, of which the file has other numbers"
    return found


def _bytes(archive: Mapping[str, Any], name: str) -> bytes:
    return np.asarray(archive[name]).tobytes()


def _check_fit(
    who: str, before: _Outline, source: EntriesDeserializer, obj: Any, cautions: str
) -> None:
    """Compare names, shapes and dtypes with the file's, and raise for all that differs at once."""
    archive, values = source.entries, before.asked_for(source)
    names = {name: source.path + name for name in values}
    names = {name: stored for name, stored in names.items() if not source.ignores(stored)}
    missing = [stored for stored in names.values() if stored not in archive]
    misfits = {
        stored: source.misfit(values[name], stored)
        for name, stored in names.items()
        if stored in archive
    }
    fitting = {names[n]: values[n] for n in names if not misfits.get(names[n], "missing")}
    misfits |= _torn(fitting, archive)
    stated = {source.path + name: misfit for name, misfit in before.statements.items()}
    misfits |= {name: source.contradiction(name, misfit) for name, misfit in stated.items()}
    lines = [f"  {stored}: {problem}" for stored, problem in misfits.items() if problem]
    if source.strict:
        lines += [f"  {stored}: missing from the file" for stored in missing]
    if not lines:
        return
    known = {*names.values(), *stated, *BESIDE}
    lines += [
        f"  {stored}: in the file, but nothing asks for it"
        for stored in archive
        if stored.startswith(source.path) and stored not in known and not source.ignores(stored)
    ]
    raise CheckpointError(
        f"{who}: {getattr(archive, 'label', 'the file')} does not fit this {type(obj).__name__}; "
        "nothing was loaded:\n"
        + "\n".join(_shortened(lines))
        + "\nBuild the object as it was when it was saved, name a part of the file with path=..., "
        "leave entries out with ignore_names=..., or keep what the file lacks with strict=False."
        + cautions
    )


def _shortened(lines: list[str], most: int = 40) -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], f"  and {len(lines) - most} more"]


def _warn_of_unused(who: str, source: EntriesDeserializer) -> None:
    known = source.asked | BESIDE
    unused = [
        name
        for name in source.entries
        if name.startswith(source.path) and name not in known and not source.ignores(name)
    ]
    if unused:
        place.warn(
            f"{who}: nothing asked for these entries of the file, which were left out: "
            + ", ".join(_shortened(unused, 10)),
        )


def _warn_of_lacking(who: str, before: _Outline, source: EntriesDeserializer) -> None:
    left = before.values.keys() - before.asked_for(source).keys() - before.optional_values
    if left and source.strict:
        place.warn(
            f"{who}: the file has nothing of these, which stay as they are: "
            + ", ".join(_shortened(sorted(left), 10)),
        )


def _warn_of_kept(who: str, before: _Outline, source: EntriesDeserializer, obj: Any) -> None:
    """Tell of an object of which the file has nothing, and of arrays for which it has None."""
    names = {name: source.path + name for name in before.values}
    if names and not source.strict and not any(map(source.entries.__contains__, names.values())):
        first = next(iter(names.values()))
        place.warn(
            f"{who}: the file has nothing of this {type(obj).__name__}, which stays as it is: no "
            f"{first!r}, for example.{nearest(first, source.entries)}"
        )
    specs = getattr(source.entries, "specs", {})
    none = [name for name, at in names.items() if at in specs and specs[at].none]
    held = [name for name in none if _is_array(before.values[name])]
    after = _Outline()
    if held:
        after.save(obj)
    kept = [name for name in held if after.values.get(name) is before.values[name]]
    kept = [names[name] for name in kept if not source.ignores(names[name])]
    if kept:
        place.warn(
            f"{who}: these had no values yet when the file was saved, and stay as they are: "
            + ", ".join(_shortened(sorted(kept), 10)),
        )
