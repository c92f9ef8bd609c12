"""Loss scaling: what keeps small gradients of 16-bit parameters from becoming zero."""

from __future__ import annotations

import math
from typing import Any

from core.errors.keywords import answering
from core.errors.place import warn
from core.errors.scalars import as_number

_LARGEST = 2.0**15  # the largest power of two that float16 holds
_TOLD = 20  # skipped steps in a row: more than it takes to halve the largest scale down to 1


@answering("check_nan_in_grads", "is_safe_to_update", "update_loss_scale")
class LossScaling:
    """The methods by which an optimizer scales its loss, by a fixed factor or a dynamic one."""

    _loss_scale: float | None = None
    _scale_interval: int | None = None
    _skipped: int = 0  # steps in a row
    _clean_steps: int = -1  # since the scale last changed; negative until a step has overflowed

    def set_loss_scale(self, loss_scale: float | None) -> None:
        """Multiply the loss's gradient by a fixed number, and divide it out before the update.

        It keeps small gradients of 16-bit parameters from becoming zero. A step in which a
        gradient overflows is skipped: it counts in `t`, but no rule, hook or parameter sees it.
        Where so many are skipped in a row that a scale cannot be the reason, a warning tells.
        """
        if loss_scale is not None:
            loss_scale = as_number(type(self).__name__, "the loss scale", loss_scale)
            if not 0 < loss_scale < math.inf:
                raise ValueError(
                    "set_loss_scale: expected a positive number, which is finite, got "
                    f"{loss_scale!r}."
                )
        self._loss_scale = loss_scale
        self._scale_interval = None
        self._skipped = 0

    @property
    def loss_scale(self) -> float | None:
        """The factor for the loss's gradient in the next step; None for no scaling."""
        return self._loss_scale

    def _factor(self, share: float | None) -> float | None:
        """The factor for the loss's gradient, where the loss has a share in that of the step."""
        return self._loss_scale if share is None else share * (self._loss_scale or 1.0)

    def loss_scaling(self, interval: int = 1000, scale: float | None = None) -> None:
        """Scale the loss by `scale`; by default dynamically.

        The dynamic scale starts at 1 and doubles with every step, up to 32768, until a gradient
        overflows. A step in which one does is skipped and halves the scale; after it `interval`
        steps without an overflow double it.
        """
        if as_number(type(self).__name__, "interval", interval) < 1:
            raise ValueError(f"loss_scaling: expected an interval of at least 1, got {interval}.")
        self.set_loss_scale(1.0 if scale is None else scale)
        self._scale_interval = interval if scale is None else None
        self._clean_steps = -1

    def check_nan_in_grads(self: Any) -> bool:
        """Whether any gradient of the target contains NaN or infinity; waits for a device once."""
        finite: dict[Any, list[Any]] = {}
        for parameter in self._target().params(False):
            if parameter.grad is not None:
                xp = parameter.xp
                found = finite.setdefault(parameter.device, [])
                with parameter.backend.beside(parameter.grad):
                    found.append(xp.all(xp.isfinite(parameter.grad)))
        for device, each in finite.items():
            with device.backend.beside(each[0]):
                if not bool(device.xp.all(device.xp.stack(each))):
                    return True
        return False

    def is_safe_to_update(self) -> bool:
        """Whether the step can be made: without loss scaling always, otherwise if all is finite."""
        return self._loss_scale is None or not self.check_nan_in_grads()

    def update_loss_scale(self, overflow: bool = False) -> None:
        """Adapt a dynamic loss scale to the result of the step."""
        if overflow or self._skipped:
            self._count_skipped(overflow)
        if self._scale_interval is None or self._loss_scale is None:
            return
        if overflow:
            self._loss_scale, self._clean_steps = max(self._loss_scale / 2, 1.0), 0
            return
        if self._clean_steps >= 0:
            self._clean_steps += 1
        if self._clean_steps in (-1, self._scale_interval):
            self._loss_scale = min(self._loss_scale * 2, _LARGEST)
            self._clean_steps = min(self._clean_steps, 0)

    def _count_skipped(self, overflow: bool) -> None:
        """Warn where nothing is trained any more."""
        self._skipped = self._skipped + 1 if overflow else 0
        if self._skipped == _TOLD:
            warn(
                f"{type(self).__name__}.update: {_TOLD} steps in a row have been skipped, for "
                f"gradients that are not finite under the loss scale {self._loss_scale}: nothing "
                "is trained. Set a smaller one, or see by core.set_debug(True) where it begins."
            )

    def _serialize_scale(self, serializer: Any) -> None:
        if self._scale_interval is not None:
            self._loss_scale = float(serializer("loss_scale", self._loss_scale))
            self._clean_steps = int(serializer("clean_steps", self._clean_steps))
