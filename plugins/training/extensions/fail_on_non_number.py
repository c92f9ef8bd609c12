"""Stopping a training that has diverged."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from core.arrays import backend
from core.errors import CoreError
from core.training import Extension

if TYPE_CHECKING:
    from core.training import Loop


class Diverged(CoreError, RuntimeError):
    """Raised if a trained parameter contains NaN or an infinity."""


class FailOnNonNumber(Extension):
    """End training as soon as a parameter of any optimizer's target contains NaN or an infinity.

    It looks after every iteration, unless extended with another trigger, and before the iteration's
    snapshot is made. The error, a RuntimeError, names the parameters.
    """

    def __call__(self, trainer: Loop) -> None:
        """Look at all parameters; all are asked before the first answer is waited for."""
        tested = [
            (f"{name}{path}", parameter.array, _all_finite(parameter.array))
            for name, optimizer in trainer.updater.get_all_optimizers().items()
            for path, parameter in optimizer.target.namedparams(include_uninit=False)
        ]
        bad = [f"{path} ({_count(array)})" for path, array, finite in tested if not bool(finite)]
        if bad:
            raise Diverged(
                "FailOnNonNumber: expected finite parameters, but after iteration "
                f"{trainer.updater.iteration} there are NaNs or infinities in "
                f"{', '.join(bad)}. See whether the data have NaN, lower the learning rate, add "
                "the optimizer hook GradientClipping, or look where it begins with "
                "core.set_debug(True)."
            )


def _all_finite(array: Any) -> Any:
    xp = backend.of(array).xp
    return xp.all(xp.isfinite(array))


def _count(array: Any) -> str:
    """How many of the elements are NaN or infinite, as '2 NaN and 1 infinite of 6'."""
    xp = backend.of(array).xp
    found = {"NaN": int(xp.sum(xp.isnan(array))), "infinite": int(xp.sum(xp.isinf(array)))}
    return (
        " and ".join(f"{n} {what}" for what, n in found.items() if n) + f" of {prod(array.shape)}"
    )
