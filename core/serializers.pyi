"""What `core.serializers` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.serializers.dictionary import DictionarySerializer as DictionarySerializer
from plugins.serializers.npz import NpzDeserializer as NpzDeserializer
from plugins.serializers.npz import load_npz as load_npz
from plugins.serializers.npz import save_npz as save_npz

def of(distribution: str) -> Offer: ...
