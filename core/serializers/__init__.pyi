"""What `core.serializers` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.serializers.dictionary import DictionarySerializer as DictionarySerializer
from plugins.serializers.hdf5 import HDF5Deserializer as HDF5Deserializer
from plugins.serializers.hdf5 import HDF5Serializer as HDF5Serializer
from plugins.serializers.hdf5 import load_hdf5 as load_hdf5
from plugins.serializers.hdf5 import save_hdf5 as save_hdf5
from plugins.serializers.keras import load_keras as load_keras
from plugins.serializers.npz import NpzDeserializer as NpzDeserializer
from plugins.serializers.npz import load_npz as load_npz
from plugins.serializers.npz import save_npz as save_npz
from plugins.serializers.pickled import load_pickled as load_pickled
from plugins.serializers.safetensors import load_safetensors as load_safetensors
from plugins.serializers.safetensors import save_safetensors as save_safetensors
from plugins.serializers.torch import load_torch as load_torch
from plugins.serializers.torch_saving import save_torch as save_torch

def of(distribution: str) -> Offer: ...
