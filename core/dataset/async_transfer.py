"""Batches that are copied to a GPU while it computes with earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.arrays.backend import Device, get_device
from core.arrays.backend import host as host_backend
from core.arrays.backend import of as backend_of
from core.dataset.convert import concat_examples
from core.errors.set_by_init import NeedsInit


class ConcatWithAsyncTransfer(NeedsInit):
    """A converter like `concat_examples` whose copies to a GPU overlap with computation.

    Host arrays are copied through pinned memory, in `stream` (one of its own if None), and whoever
    computes in `compute_stream` (the current one if None) waits for them on the device, while the
    host goes on. One more batch of the same shapes is held on the device. Where the backend has
    nothing to overlap, as NumPy, it is `concat_examples`. The streams are the array library's own.

    >>> import numpy as np
    >>> ConcatWithAsyncTransfer()([(np.ones(2), 0), (np.zeros(2), 1)], device=-1)
    (array([[1., 1.],
           [0., 0.]]), array([0, 1]))
    """

    def __init__(self, stream: Any = None, compute_stream: Any = None) -> None:
        self._streams = stream, compute_stream
        self._uploaders: dict[Device, Any] = {}

    def __call__(self, batch: Sequence[Any], device: Any = None, padding: Any = None) -> Any:
        """Return the arrays that `concat_examples` makes; errors are the same."""
        made = concat_examples(batch, None, padding)
        if device is None:
            return made
        target = get_device(device)
        if isinstance(made, tuple):
            return tuple(self._send(made, target))
        if isinstance(made, dict):
            return dict(zip(made, self._send(list(made.values()), target), strict=True))
        return self._send([made], target)[0]

    def _send(self, arrays: Sequence[Any], device: Device) -> list[Any]:
        host = host_backend()
        if any([backend_of(array) is not host for array in arrays]):
            return [device.send(array) for array in arrays]
        if device not in self._uploaders:
            self._uploaders[device] = device.backend.uploader(device, *self._streams)
        found: list[Any] = self._uploaders[device](arrays)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """A copy has streams of its own, if none were given."""
        return {**self.__dict__, "_uploaders": {}}
