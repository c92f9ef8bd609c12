"""Saving and loading the state of links, optimizers and trainers."""

from __future__ import annotations

from core import hookimpl

provides = {
    "dictionary": "DictionarySerializer",
    "hdf5": "HDF5Deserializer HDF5Serializer load_hdf5 save_hdf5",
    "keras": "load_keras",
    "npz": "NpzDeserializer load_npz save_npz",
    "pickled": "load_pickled",
    "torch": "load_torch",
    "torch_saving": "save_torch",
    "safetensors": "load_safetensors save_safetensors",
}


@hookimpl
def register_serializers() -> dict[str, str]:
    """The serializers, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
