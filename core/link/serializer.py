"""Serializers: the same method, `serialize(serializer)`, saves and loads an object.

The object hands every piece of its state to the serializer and takes back what it returns:

    def serialize(self, serializer):
        self.epoch = serializer("epoch", self.epoch)
        self.model.serialize(serializer["model"])

Saving returns the value as it is; loading returns the stored one, and writes arrays in place.
`None` can be saved and loaded; on loading it also asks for an array of whatever shape there is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol


class Serializable(Protocol):
    """Anything with a method `serialize(serializer)`."""

    def serialize(self, serializer: Any) -> Any:
        """Pass every piece of state to the serializer, and keep what it returns."""


class AbstractSerializer(ABC):
    """What saving and loading have in common: children for parts, a call for each value."""

    @abstractmethod
    def __getitem__(self, key: str) -> AbstractSerializer:
        """Return the serializer for the part called `key`."""

    def optional(self, key: str) -> AbstractSerializer:
        """As `[key]`, for a part that a file may lack: loading then leaves it unchanged."""
        return self[key]

    def statement(self, key: str, text: str, misfit: Callable[[str], str]) -> None:  # noqa: B027
        """Save a text that says what the state belongs to; loading refuses what does not fit.

        `misfit(stored)` tells what keeps a state with the text `stored` from being loaded, and ''
        where nothing does. State of which a file states nothing is taken as it is; a serializer
        that does not know statements does nothing here.
        """

    def caution(self, text: str) -> None:  # noqa: B027
        """Say what is to be minded where a file is loaded that another program has written."""

    @abstractmethod
    def __call__(self, key: str, value: Any) -> Any:
        """Save or load one value (an array, a number, a string or None), and return it."""

    def optional_value(self, key: str, value: Any) -> Any:
        """As a call, for a value that a file may lack: loading then returns `value`."""
        return self(key, value)

    def of_any_shape(self, key: str, value: Any) -> Any:
        """As a call, for an array whose shape in a file may be another one than it has now."""
        return self(key, value)

    def lacks(self, key: str) -> bool:
        """Whether the file that is loaded has no value or part called `key`."""
        return False


class Serializer(AbstractSerializer):
    """A serializer that saves."""

    def save(self, obj: Serializable) -> None:
        """Save an object."""
        obj.serialize(self)


class Deserializer(AbstractSerializer):
    """A serializer that loads."""

    def load(self, obj: Serializable) -> None:
        """Load an object's state into it."""
        obj.serialize(self)
