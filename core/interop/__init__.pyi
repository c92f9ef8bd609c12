"""What `core.interop` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.interop.einops_backend import register_einops as register_einops
from plugins.interop.torch_bridge import as_torch as as_torch

def of(distribution: str) -> Offer: ...
