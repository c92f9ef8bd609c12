"""Updates of optimizers in a captured step."""

from __future__ import annotations

from typing import Any

from core.optimizer import GradientMethod, PreparedStep
from core.tracing import tape
from core.tracing.leaving import deliver, writing


class Update:
    """The update of an optimizer in a run: of gradients, the parameters and gradients after it."""

    keeps = True

    def __init__(
        self,
        optimizer: Any,
        given: list[Any],
        cleared: list[Any],
        written: list[Any],
        parameters: list[Any],
        graded: list[Any],
    ) -> None:
        self.optimizer = optimizer
        self.given = given
        self.cleared = cleared
        self.written = written
        self.parameters = parameters
        self.graded = graded
        self._prepared: PreparedStep | None = None

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Deliver gradients, and update."""
        count = len(self.given)
        if self.written:
            writing(self.written)(arrays[count:])
        for parameter in self.cleared:
            parameter._source._grad = None
        deliver(self.given, arrays[:count])
        if self._prepared is None or not self._prepared.made():
            self.optimizer.update()
            self._prepared = PreparedStep.of(self.optimizer)
        return (*[p._array for p in self.parameters], *[p.grad for p in self.graded])


def record_update(optimizer: Any) -> bool:
    """Record an update where a step is being captured; False where none is."""
    places = tape.current().places if tape.under_way() else None
    if places is None or not places.live:
        return False
    places.update(optimizer)
    return True


GradientMethod._recorder = record_update
