"""Devices of PyTorch, by the words that it has for them: cpu, cuda:0, mps, xpu:0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

NUMBERED = ("cuda", "xpu")
KINDS = ("cpu", *NUMBERED, "mps")


def found() -> tuple[str, ...]:
    """All devices that can be used here, the CPU first."""
    numbered = [
        f"{kind}:{i}" for kind in NUMBERED for i in range(getattr(torch, kind).device_count())
    ]
    return ("cpu", *numbered, *["mps"] * torch.backends.mps.is_available())


def is_known(device: Any) -> bool:
    """Whether it is a device, or the name of one, of a kind that `found` looks for."""
    kind = device.type if isinstance(device, torch.device) else device.partition(":")[0]
    number = "" if isinstance(device, torch.device) else device.partition(":")[2]
    return kind in KINDS and (not number or number.isdecimal())


def id_of(device: torch.device) -> str:
    """The name by which it is known; of those that are numbered with the number."""
    if device.type not in NUMBERED:
        return device.type
    number = device.index
    return f"{device.type}:{_module(device).current_device() if number is None else number}"


def entered(device: torch.device) -> AbstractContextManager[Any]:
    """A context in which it is the current device of its kind."""
    return _module(device).device(device) if device.type in NUMBERED else nullcontext()


def synchronize(device: torch.device) -> None:
    """Wait for all that it has been asked."""
    if device.type != "cpu":
        _module(device).synchronize(*[device] * (device.type in NUMBERED))


@contextmanager
def limited_threads(number: int) -> Iterator[None]:
    """At most so many threads, as long as the block is open."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(number, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _module(device: torch.device) -> Any:
    return getattr(torch, device.type)
