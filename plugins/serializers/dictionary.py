"""Saving into a dictionary of host arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from core.arrays import backend
from core.errors import CheckpointError
from core.link.serializer import Serializable, Serializer
from plugins.serializers.entries import NONE

_STORABLE = re.compile(r"[^\0\ud800-\udfff]*").fullmatch


class DictionarySerializer(Serializer):
    """Saves into the dict `target`: slash-separated name -> NumPy array.

    Numbers and text become arrays without dimensions. An array in host memory is not copied.

    >>> from core.serializer import Serializable
    >>> class Counter:
    ...     def serialize(self, serializer):
    ...         serializer("count", 3)
    >>> saved = DictionarySerializer()
    >>> saved["steps"].save(Counter())
    >>> saved.target
    {'steps/count': array(3)}
    """

    def __init__(self, target: dict[str, Any] | None = None, path: str = "") -> None:
        self.target: dict[str, Any] = {} if target is None else target
        self.path = path

    def __getitem__(self, key: str) -> DictionarySerializer:
        return type(self)(self.target, f"{self.path}{key.strip('/')}/")

    def __call__(self, key: str, value: Any) -> Any:
        """Store `value` under `key`, and return it."""
        self.target[self.path + key.lstrip("/")] = host_array(value)
        return value

    def statement(self, key: str, text: str, misfit: Callable[[str], str]) -> None:
        """Store the text as its bytes, which every kind of file holds."""
        self(key, as_bytes(text))


class _Values(DictionarySerializer):
    def statement(self, key: str, text: str, misfit: Callable[[str], str]) -> None:
        """Not stored: it is for those who load the file here."""


def values_of(who: str, obj: Serializable) -> dict[str, Any]:
    """Return all that `obj` saves, by name, but for statements: what other libraries take."""
    check_serializable(who, obj)
    saved = _Values()
    saved.save(obj)
    return saved.target


def entries_of(who: str, obj: Serializable | Mapping[str, Any]) -> dict[str, Any]:
    """Return all that `obj` saves, by name; a mapping is returned as saved entries."""
    if isinstance(obj, Mapping) and not hasattr(obj, "serialize"):  # which a ChainDict has
        _check_names(who, obj)
        if any(name and not name.strip("/") for name in obj):
            raise TypeError(
                f"{who}: expected names of more than slashes, which alone lead to no entry when "
                "the file is loaded. Give it another name."
            )
        return {name: host_array(value) for name, value in obj.items()}
    check_serializable(who, obj, ", or a dict of arrays")
    saved = DictionarySerializer()
    saved.save(obj)
    _check_names(who, saved.target)
    return saved.target


def _check_names(who: str, names: Iterable[Any]) -> None:
    """Refuse what no kind of file has as a name: zeros would end it, and UTF-8 lacks surrogates."""
    for name in names:
        if not isinstance(name, str) or not _STORABLE(name):
            raise TypeError(
                f"{who}: expected names that are text, without zeros or half characters "
                f"(surrogates), got {name!r:.60}. Give it another name."
            )


def as_bytes(text: str) -> Any:
    """A statement as files hold it: an array of the bytes of its UTF-8."""
    return np.frombuffer(text.encode(), np.uint8)


def check_serializable(who: str, obj: Any, others: str = "") -> None:
    """Refuse what has no state to save or load; `others` are told beside what has."""
    if not hasattr(obj, "serialize") or isinstance(obj, type):
        raise TypeError(
            f"{who}: expected a path or file and then an object with a method "
            f"serialize(serializer), such as a link, an optimizer or a trainer{others}; "
            f"got {obj!r:.60}."
        )


def host_array(value: Any) -> Any:
    """A value as a host array; None in its stored form.

    Raises CheckpointError for what an array would make something else of.
    """
    if value is None:
        return NONE
    if hasattr(value, "__dlpack__"):
        return backend.to_host(value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise CheckpointError(
            f"save: expected numbers, text, None or lists of them that make an array, got "
            f"{value!r:.60}: {error}"
        ) from error
    if array.dtype.kind in "US" and array.tolist() != np.asarray(value, object).tolist():
        raise CheckpointError(
            f"save: expected text that ends in no zeros, and no numbers beside it, got "
            f"{value!r:.60}; an array would change it. Store bytes as numbers: "
            "np.frombuffer(data, 'u1')."
        )
    return array
