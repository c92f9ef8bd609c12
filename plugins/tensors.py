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
    try:
        return shared_tensor(torch, owner, array)
    except BufferError:
        return shared_tensor(torch, owner, owner.copy(array))


def shared_tensor(torch: Any, owner: Backend, array: Any) -> Any:
    """The array as a tensor of the same memory; raises BufferError where there is none such."""
    if min(getattr(array, "strides", ()), default=0) < 0:  # at which PyTorch ends the process
        raise BufferError("it lies backwards")
    flags = getattr(array, "flags", None)
    if not getattr(flags, "writeable", True):  # PyTorch would write to it
        raise BufferError("it is read-only")
    if owner.dtype_name(array.dtype) == "bfloat16":
        return torch.from_dlpack(array.view("int16")).view(torch.bfloat16)
    return torch.from_dlpack(array)


def array_of(torch: Any, owner: Backend, tensor: Any) -> Any:
    """The elements of a tensor as an array of a backend, which shares its memory.

    A copy is made of what is only to be seen as conjugate or negative, which DLPack does not tell.
    """
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        bits = owner.xp.from_dlpack(tensor.view(torch.int16))
        return bits.view(owner.dtype("bfloat16"))
    return owner.xp.from_dlpack(tensor)
