"""Arrays beside a file of ONNX's, which holds 2 GiB at most: in one file of their own."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from plugins.extras import need
from plugins.serializers.atomic import replacing

LEAST, ALIGNED = 1024, 4096
"""Bytes of an array that is worth it, and what the places of arrays are multiples of."""


class External:
    """Arrays that are written beside a model; tensors in the model say where they are.

    The name of their file has a digest of them, so that no model of another time is met with them.
    """

    def __init__(self) -> None:
        self._arrays: list[Any] = []
        self._end = 0

    def tensor(self, array: Any, name: str, element_type: int) -> Any:
        """The tensor that stands for an array in C order."""
        onnx = need("onnx", "onnx", "core.export.onnx")
        made = onnx.TensorProto(name=name, data_type=element_type, dims=array.shape)
        made.data_location = onnx.TensorProto.EXTERNAL
        self._end += -self._end % ALIGNED
        for key, value in (("location", ""), ("offset", self._end), ("length", array.nbytes)):
            made.external_data.add(key=key, value=str(value))
        self._arrays.append(array if array.dtype.isnative else array.astype(array.dtype.name))
        self._end += array.nbytes
        return made

    def write(self, file: str | os.PathLike[str], tensors: Any) -> None:
        """Write the arrays beside a file, and into the tensors of its graph where they are."""
        if not self._arrays:
            return
        found = sha256()
        for array in self._arrays:
            found.update(array.tobytes())
        path = Path(file)
        beside = path.with_name(f"{path.name}.{found.hexdigest()[:16]}.data")
        for tensor in tensors:
            if tensor.external_data:
                tensor.external_data[0].value = beside.name
        with replacing(beside) as temporary, temporary.open("wb") as stream:
            for array in self._arrays:
                stream.write(bytes(-stream.tell() % ALIGNED))
                stream.write(array.tobytes())
