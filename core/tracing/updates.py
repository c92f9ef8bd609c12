"""Updates of optimizers in a captured step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.optimizer import GradientMethod
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
        self._beside = {name: getattr(optimizer, name) for name in optimizer._of_gradients}

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Deliver gradients, and update."""
        count = len(self.given)
        if self.written:
            writing(self.written)(arrays[count:])
        for parameter in self.cleared:
            parameter._source._grad = None
        deliver(self.given, arrays[:count])
        vars(self.optimizer).update(self._beside)
        self.optimizer.update()
        return (*[p._array for p in self.parameters], *[p.grad for p in self.graded])


def recorder() -> Callable[[Any], None] | None:
    """What records updates where a step is being captured; None where none is."""
    places = tape.current().places if tape.under_way() else None
    return None if places is None or not places.live else places.update


GradientMethod._recorder = recorder
