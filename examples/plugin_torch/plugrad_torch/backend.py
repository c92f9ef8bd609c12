"""What is known of PyTorch before anybody asks for it: importing this does not import PyTorch."""

from importlib.util import find_spec
from typing import Any

from core.arrays.backend import Backend


class TorchBackend(Backend):
    """The tensors of PyTorch, which is imported when the one object of this is made."""

    name = "torch"
    library = "torch"

    def __new__(cls) -> Any:
        from plugrad_torch.arrays import Tensors

        return super().__new__(Tensors)

    @classmethod
    def unavailable(cls) -> str | None:
        """Why it cannot be used here, or None."""
        if find_spec("torch") is None:
            return "PyTorch is not installed: pip install torch (see pytorch.org for GPUs)."
        return None
