"""PyTorch's tensors and arrays that share their memory.

Both sides exchange arrays by DLPack; bfloat16, which NumPy does not hand out, goes as the integers
of its bits.
"""

from __future__ import annotations

from typing import Any

from core.arrays.array_backend import Backend


def tensor_of(torch: Any, owner: Backend, array: Any) -> Any:
    """The array as a tensor, which shares its memory where PyTorch can.

    A copy is made of what is read-only, or lies backwards.
    """
    if min(getattr(array, "strides", ()), default=0) < 0:  # at which PyTorch ends the process
        array = owner.copy(array)
    try:
        return shared_tensor(torch, owner, array)
    except BufferError:  # read-only
        return shared_tensor(torch, owner, owner.copy(array))


def shared_tensor(torch: Any, owner: Backend, array: Any) -> Any:
    """The array as a tensor of the same memory; raises BufferError where there is none such."""
    if owner.dtype_name(array.dtype) == "bfloat16":
        return torch.from_dlpack(array.view("int16")).view(torch.bfloat16)
    return torch.from_dlpack(array)


def array_of(torch: Any, owner: Backend, tensor: Any) -> Any:
    """The elements of a tensor as an array of a backend, which shares its memory."""
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        bits = owner.xp.from_dlpack(tensor.view(torch.int16))
        return bits.view(owner.dtype("bfloat16"))
    return owner.xp.from_dlpack(tensor)
