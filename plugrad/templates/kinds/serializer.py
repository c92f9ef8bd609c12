"""Saving and loading as JSON: `save_thing`, `load_thing`."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from core.serializers import DictionarySerializer, NpzDeserializer


def save_thing(file: str | os.PathLike[str], target: Any) -> None:
    """Write the state of a link, an optimizer or a trainer into a JSON file.

    The file is complete, or as it was before.
    """
    serializer = DictionarySerializer()
    serializer.save(target)
    state = {
        name: {"dtype": str(value.dtype), "shape": value.shape, "values": value.ravel().tolist()}
        for name, value in serializer.target.items()
    }
    path = Path(file)
    written = path.with_name(path.name + ".part")
    written.write_text(json.dumps(state), encoding="utf-8")
    written.replace(path)


def load_thing(file: str | os.PathLike[str], target: Any) -> None:
    """Read what `save_thing` wrote into an object of the same structure."""
    state = json.loads(Path(file).read_text(encoding="utf-8"))
    arrays = {
        name: np.array(entry["values"], entry["dtype"]).reshape(entry["shape"])
        for name, entry in state.items()
    }
    NpzDeserializer(arrays).load(target)
