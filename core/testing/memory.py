"""Serializers that keep everything in a dict, so that saving is tested without files."""

from __future__ import annotations

from typing import Any

from core.arrays.backend import of as backend_of
from core.arrays.backend import to_host
from core.graph.fitting import is_array
from core.link.serializer import Deserializer, Serializer


class MemorySerializer(Serializer):
    """Saves into a dict of paths: host copies of arrays, other values as they are."""

    def __init__(self, store: dict[str, Any] | None = None, path: str = "") -> None:
        self.store: dict[str, Any] = {} if store is None else store
        self._path = path

    def __getitem__(self, key: str) -> MemorySerializer:
        return MemorySerializer(self.store, f"{self._path}{key.strip('/')}/")

    def __call__(self, key: str, value: Any) -> Any:
        """Save one value."""
        saved = to_host(value).copy() if is_array(value) else value
        self.store[self._path + key] = saved
        return value


class MemoryDeserializer(Deserializer):
    """Loads from such a dict: arrays in place, and copies of them where there is none yet."""

    def __init__(self, store: dict[str, Any], path: str = "") -> None:
        self.store = store
        self._path = path

    def __getitem__(self, key: str) -> MemoryDeserializer:
        return MemoryDeserializer(self.store, f"{self._path}{key.strip('/')}/")

    def optional_value(self, key: str, value: Any) -> Any:
        """Load one value, if it is there."""
        return self(key, value) if self._path + key in self.store else value

    def __call__(self, key: str, value: Any) -> Any:
        """Load one value."""
        stored = self.store[self._path + key]
        if is_array(value) and stored is not None:
            return backend_of(value).copyto(value, stored)
        return stored.copy() if is_array(stored) else stored


def saved(obj: Any) -> dict[str, Any]:
    """Everything that an object saves."""
    serializer = MemorySerializer()
    serializer.save(obj)
    return serializer.store


def load(obj: Any, store: dict[str, Any]) -> None:
    """Load an object from what `saved` gave."""
    MemoryDeserializer(store).load(obj)
