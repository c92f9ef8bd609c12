"""The gradients of a step: those of one loss, or the sum of those of the parts of a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from core.errors import UpdateError
from core.errors.kinds import checked
from core.errors.scalars import as_number
from core.graph.backprop import backward_from
from core.graph.variable import Variable
from core.link import Link
from core.link.serializer import Deserializer
from core.optimizer.optimizer import Optimizer
from core.registry.configuration import config


class Accumulating(Optimizer):
    """Base of optimizers that compute the gradients of their steps from losses."""

    _use_cleargrads: bool = True
    _parts: int = 0  # whose gradients have been accumulated for the coming step

    @checked
    def use_cleargrads(self, use: bool = True) -> None:
        """Clear gradients to None before backward (the default), or fill them with zeros."""
        self._use_cleargrads = use

    def accumulate(
        self, share: float, lossfun: Callable[..., Any], *args: Any, **kwds: Any
    ) -> None:
        """Add the gradients of a part of a batch to those of the next step.

        The first part after a step clears the gradients. After the last one `update()` without
        arguments makes the step, as it would with the whole batch: the loss, if it is a mean over
        its examples, is `share` times that of the part, summed over parts whose shares sum to 1.
        What is saved in between holds the gradients so far.

        >>> import core, core.functions as F, core.links as L, numpy as np
        >>> optimizer = core.optimizers.SGD(lr=1.0).setup(L.Linear(1, 1, initialW=0.0))
        >>> for x in ([[1.0]], [[2.0]], [[6.0]]):
        ...     optimizer.accumulate(1 / 3, lambda x: F.mean(optimizer.target(x)), np.array(x, "f"))
        >>> optimizer.update()
        >>> optimizer.target.W.array
        array([[-3.]], dtype=float32)

        Raises:
            UpdateError: There is no target, or the loss is not a scalar Variable.
            ValueError: The share is not positive, or infinite.
        """
        target = self._target()
        self._refuse_uncallable("accumulate", lossfun)
        share = as_number(type(self).__name__, "the share", share)
        if not 0 < share < math.inf:
            raise ValueError(
                f"{type(self).__name__}.accumulate: expected a positive share that is finite, got "
                f"{share!r}."
            )
        self._backward(target, lossfun(*args, **kwds), share)
        self._parts += 1

    def drop_accumulated(self) -> None:
        """Discard the gradients that were accumulated since the last step."""
        if self._parts:
            self._target().cleargrads()
            self._parts = 0

    def set_loss_scale(self, loss_scale: float | None) -> None:
        """Multiply the loss's gradient by a fixed number; see `LossScaling`.

        Raises UpdateError where gradients with another scale have been accumulated.
        """
        if self._parts and loss_scale != self._loss_scale:
            raise UpdateError(
                f"{type(self).__name__}: gradients of {self._parts} parts have been accumulated "
                f"with the loss scale {self._loss_scale}, which a step divides by. Call update() "
                "or drop_accumulated() before it is set to another."
            )
        super().set_loss_scale(loss_scale)

    def _refuse_uncallable(self, what: str, lossfun: Any) -> None:
        if not callable(lossfun):
            raise UpdateError(
                f"{type(self).__name__}.{what}: expected a function that computes the loss, got "
                f"{type(lossfun).__name__}. Give the function and its arguments; or clear the "
                "gradients, call loss.backward(), and then update() without arguments."
            )

    def _backward(self, target: Link, loss: Any, share: float | None = None) -> None:
        if not isinstance(loss, Variable):
            raise UpdateError(
                f"{type(self).__name__}.{'update' if share is None else 'accumulate'}: expected "
                f"the loss function to return a Variable, got {type(loss).__name__}."
                + " Is there no `return loss` in it?"
                * (loss is None)
            )
        if self._parts == 0:
            if self._use_cleargrads:
                target.cleargrads()
            else:
                target.zerograds()
        for link in target.links():
            link.release_graph()
        # Whoever keeps the graphs of reported variables, as dump_graph does, looks at this one.
        keep = config.keep_graph_on_report
        scaled = self._loss_scale is not None  # then an overflow is found, and the step skipped
        with loss.backend.overflowing() if scaled else nullcontext():
            self._walk_back(loss, self._scale_of(loss, share), not keep)
        if share is not None and not scaled:  # which is no scale, to be divided out again
            for parameter in target.params():
                parameter.loss_scale = None

    def _scale_of(self, loss: Variable, share: float | None) -> float | None:
        """The factor for a loss; a step that is captured has that of each replay."""
        return self._factor(share)

    def _walk_back(self, loss: Variable, loss_scale: float | None, free_graph: bool) -> None:
        """Give the parameters their gradients."""
        backward_from([loss], loss_scale=loss_scale, free_graph=free_graph)

    def serialize(self, serializer: Any) -> None:
        """Save or load what every optimizer does, and gradients accumulated for the next step."""
        super().serialize(serializer)
        loading, part = isinstance(serializer, Deserializer), serializer.optional("accumulated")
        if loading:
            self._parts = int(part.optional_value("parts", 0))
        elif self._parts:
            part.optional_value("parts", self._parts)
        if not self._parts:
            return
        scale = self._loss_scale or 1.0
        change = scale / float(part.optional_value("loss_scale", scale))
        for path, parameter in self._target().namedparams(include_uninit=False):
            grad = part.optional_value(path, None if loading else parameter.grad)
            if loading:
                sent = None if grad is None else parameter.device.send(grad)
                parameter.grad = sent if sent is None or change == 1 else sent * change
