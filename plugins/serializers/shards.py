"""Tensors that lie in several files, and the index that says which is where.

The index is the JSON beside them, `model.safetensors.index.json` or `pytorch_model.bin.index.json`:
its `weight_map` has for the name of each tensor that of a file in the same folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from core.errors import CheckpointDamaged, CheckpointError

Tensors = TypeVar("Tensors", bound=Mapping[str, Any])


def index_of(data: bytes) -> dict[str, str] | None:
    """The files of tensors by their names, where the data is such an index; else None."""
    if data.lstrip()[:1] != b"{":
        return None
    try:
        found = json.loads(data)["weight_map"]
    except (ValueError, KeyError, RecursionError):
        return None
    texts = isinstance(found, dict) and all([isinstance(name, str) for name in found.values()])
    return found if texts else None


def gathered(
    index: dict[str, str], file: Any, label: str, read: Callable[[Path], Tensors]
) -> dict[str, Any]:
    """All tensors of an index, read from the files beside it.

    Raises CheckpointError where the folder is not known or a file is not in it, and
    CheckpointDamaged where a file lacks a tensor or has one that the index does not know.
    """
    if not isinstance(file, str | os.PathLike):
        raise CheckpointError(
            f"{label}: this is an index of other files. Expected its path, got an open file, "
            "beside which there are none."
        )
    folder, found = Path(file).parent, dict[str, Any]()
    for name in dict.fromkeys(index.values()):
        if Path(name).name != name or name in ("", ".", ".."):
            raise CheckpointError(
                f"{label}: expected names of files in its own folder, got {name!r}. Nothing was "
                "loaded."
            )
        tensors = read(folder / name)
        wanted = {tensor for tensor, where in index.items() if where == name}
        if wanted != {*tensors}:
            other = min(wanted ^ {*tensors})
            raise CheckpointDamaged(
                f"{label}: expected in {name} the tensors that the index names, got others: "
                f"{other!r} is in one of them alone. Nothing was loaded; fetch all files again."
            )
        found.update(tensors)
    return {tensor: found[tensor] for tensor in index}
