"""Updates of optimizers in a captured step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from core.capturing.leaving import deliver, scales_of
from core.optimizer import GradientMethod
from core.tracing import tape


class Update:
    """The update of an optimizer in a run: of gradients, the parameters and gradients after it."""

    keeps = True

    def __init__(
        self,
        optimizer: Any,
        gradients: list[tuple[Any, Any]],
        written: Callable[[Any], None],
        parameters: list[Any],
        graded: list[Any],
    ) -> None:
        self.optimizer = optimizer
        self.given = [p for p, g in gradients if g is not None]
        self._scales = scales_of(self.given)
        self.cleared = [p for p, g in gradients if g is None]
        self.written = written
        self.parameters = parameters
        self.graded = graded
        self._beside = {name: getattr(optimizer, name) for name in optimizer._of_gradients}

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Deliver gradients, and update."""
        count = len(self.given)
        if arrays[count:]:
            self.written(arrays[count:])
        for parameter in self.cleared:
            (parameter._source or parameter)._grad = None
        deliver(self.given, arrays[:count], self._scales)
        vars(self.optimizer).update(self._beside)
        self.optimizer.update()
        return (*[p._array for p in self.parameters], *[p.grad for p in self.graded])


class StepRecorder:
    """What records the steps of optimizers in a captured step."""

    def __init__(self, places: Any) -> None:
        self._places = places

    def __call__(self, optimizer: Any) -> None:
        """Record an update."""
        self._places.update(optimizer)

    def scaled(self, optimizer: Any, loss: Any, share: float | None) -> Any:
        """The factor for the gradient of a loss, that of each replay, as an array of its dtype.

        It is also what parameters say that the last backward put on their gradients, where these
        are delivered. An optimizer that nobody has named before is known from now on, with the
        parts that it has counted.
        """
        self._places.take_optimizer(optimizer)
        if optimizer.loss_scale is None:
            return optimizer._factor(share)
        factor = partial(optimizer._factor, share)
        name, dtype = f"{type(optimizer).__name__}.loss_scale", loss.backend.dtype_name(loss.dtype)
        return self._places.number(name, dtype, factor)


def recorder() -> StepRecorder | None:
    """What records steps where one is being captured; None where none is."""
    places = tape.current().places if tape.under_way() else None
    return None if places is None or not places.live else StepRecorder(places)


GradientMethod._recorder = recorder
