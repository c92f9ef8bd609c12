"""Messages of protocol buffers, read field by field, as Caffe writes its models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.errors import CheckpointDamaged


class Message:
    """The fields of a message by their numbers, each a list of what came."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[Any]] = {}
        for number, value in _fields(data):
            self._fields.setdefault(number, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def messages(self, number: int) -> list[Message]:
        """All messages in a field."""
        return [Message(_bytes(each)) for each in self._fields.get(number, [])]

    def message(self, number: int) -> Message:
        """The message in a field; one without fields where there is none."""
        found = self.messages(number)
        return found[-1] if found else Message(b"")

    def texts(self, number: int) -> list[str]:
        """All strings in a field."""
        return [_bytes(each).decode("utf-8", "replace") for each in self._fields.get(number, [])]

    def text(self, number: int) -> str:
        """The string in a field."""
        return (self.texts(number) or [""])[-1]

    def integers(self, number: int) -> list[int]:
        """All integers in a field, packed or not."""
        found: list[int] = []
        for each in self._fields.get(number, []):
            if isinstance(each, int):
                found.append(each)
            else:
                at = 0
                while at < len(each):
                    value, at = _varint(each, at)
                    found.append(value)
        return [n - (1 << 64) if n >= 1 << 63 else n for n in found]

    def integer(self, number: int, default: int) -> int:
        """The integer in a field."""
        return (self.integers(number) or [default])[-1]

    def floats(self, number: int, kind: str = "<f4") -> Any:
        """All floating numbers in a field, packed or not."""
        size = np.dtype(kind).itemsize
        data = b"".join([_bytes(each) for each in self._fields.get(number, [])])
        if len(data) % size:
            raise CheckpointDamaged("the model is damaged: numbers are cut off.")
        return np.frombuffer(data, kind)

    def number(self, number: int, default: float) -> float:
        """The floating number in a field."""
        found = self.floats(number)
        return float(found[-1]) if len(found) else default


def _bytes(value: Any) -> bytes:
    if isinstance(value, int):
        raise CheckpointDamaged("the model is damaged: a number stands where data is expected.")
    return bytes(value)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise CheckpointDamaged("the model is damaged: a number has no end.")
        found |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return found, at


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            length, at = _varint(data, at)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise CheckpointDamaged("it is no model of Caffe's: fields of an unknown kind.")
        if not number or at + length > len(data):
            raise CheckpointDamaged("the model is damaged: a field is cut off.")
        yield number, data[at : at + length]
        at += length


def array_of(blob: Message) -> Any:
    """The array of a BlobProto, compared with its shape."""
    values = blob.floats(5) if 5 in blob else blob.floats(8, "<f8")
    shape = blob.message(7).integers(1) if 7 in blob else [blob.integer(n, 1) for n in (1, 2, 3, 4)]
    size = 1
    for n in shape:
        size *= n
    if min([0, *shape]) < 0 or size != len(values):
        raise CheckpointDamaged(
            f"the model is damaged: expected {size} numbers of the shape {shape}, got "
            f"{len(values)}."
        )
    return np.array(values, "f").reshape(shape)
