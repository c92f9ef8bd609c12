"""Averages of weights over the steps of a training."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core import Link, Optimizer, Parameter
from core.arrays import backend
from core.errors import UpdateError
from core.errors.known_attributes import KnownAttributes
from core.errors.set_by_init import NeedsInit
from core.link.serializer import Deserializer
from core.optimizer import Quantity


class ExponentialMovingAverage(KnownAttributes, NeedsInit):
    r"""Keep averages of all parameters, which often give better results than the parameters.

    .. math::
        a_t = \frac{\sum_{i=1}^t \beta^{t-i} \theta_i}{\sum_{i=1}^t \beta^{t-i}}, \qquad
        a_t = a_{t-1} + w_t (\theta_t - a_{t-1}), \quad w_t = \frac{1 - \beta}{1 - \beta^t}

    after t steps: the weights sum to 1 from the first step on, so that nothing of where training
    began is left in it. With :math:`\beta = 1` all steps count alike. Steps that are skipped, as
    their gradients overflow, do not count. Averages of 16-bit parameters are float32. Persistent
    values, such as running statistics, are not averaged: the model's present ones hold. The average
    of a parameter that comes later, also in the place of another, begins with its first step.

    `with ema.applied():` puts the averages in the place of the parameters for a block, to evaluate
    or to save them; `ema.averaged_model()` is a copy of the model with them. They are saved with
    the optimizer, and move with the parameters. It hooks an optimizer, after its steps.

    Args:
        decay: The share :math:`\beta` that an average keeps at a step, above 0 and up to 1.

    Sources: Polyak and Juditsky 1992, SIAM Journal on Control and Optimization 30; the correction
    at the beginning is that of Kingma and Ba 2015 (arXiv:1412.6980), section 3.

    >>> import core, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([1.0]))
    >>> optimizer = core.optimizers.SGD(lr=0.25).setup(model)
    >>> ema = core.optimizer_hooks.ExponentialMovingAverage(0.5)
    >>> optimizer.add_hook(ema)
    >>> for step in range(2):
    ...     optimizer.update(lambda: model.x * model.x)  # to 0.5, then to 0.25
    >>> with ema.applied():
    ...     print(model.x.array.round(3))
    [0.333]
    >>> model.x.array
    array([0.25])
    """

    name: str = "ExponentialMovingAverage"
    call_for_each_param: bool = False
    timing: str = "post"
    decay = Quantity("(0, 1]")

    def __init__(self, decay: float = 0.999) -> None:
        self.decay = decay
        self.t = 0
        self._target: Link | None = None
        self._averages: dict[str, Any] = {}
        self._owners: dict[str, Parameter] = {}  # whose averages these are, not known of a file's
        self._since: dict[str, int] = {}  # the steps before an average began, if there were any
        self._applied = False

    def added(self, optimizer: Optimizer) -> None:
        """Find out what to average, when the hook is added to an optimizer."""
        if self._target is not None and self._target is not optimizer.target:
            raise UpdateError(
                "ExponentialMovingAverage: it averages another model already. Make another one."
            )
        self._target = optimizer.target

    def __call__(self, opt: Optimizer) -> None:
        """Take the parameters after a step into the averages."""
        if self._applied:
            raise UpdateError(
                "ExponentialMovingAverage: a step was made while the averages stood in the place "
                "of the parameters. Leave the block `with ema.applied():` before."
            )
        self.t += 1
        for path, parameter in self._parameters():
            present = _wide(parameter)
            average = self._average(path, parameter)
            if average is None:
                self._averages[path] = parameter.backend.copy(present)
                self._since[path] = self.t - 1
            else:
                weight = self._weight(self.t - self._since.get(path, 0))
                with parameter.backend.beside(present):
                    average += weight * (present - average)
                self._averages[path] = average

    def _weight(self, steps: int) -> float:
        """The weight of the newest values in an average over so many steps."""
        return 1 / steps if self.decay == 1 else (1 - self.decay) / (1 - self.decay**steps)

    def _parameters(self) -> Iterator[tuple[str, Parameter]]:
        if self._target is None:
            raise UpdateError(
                "ExponentialMovingAverage: it averages nothing yet. Add it to an optimizer: "
                "optimizer.add_hook(ema)."
            )
        return self._target.namedparams(include_uninit=False)

    def _average(self, path: str, parameter: Parameter) -> Any:
        """The average of a parameter, where that is; None where it has none yet."""
        if self._owners.setdefault(path, parameter) is not parameter:
            self._owners[path] = parameter
            self._averages.pop(path, None)
        average = self._averages.get(path)
        return None if average is None else backend.to_backend(average, parameter.device)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Replace the parameters by the averages until the end of a block.

        The arrays stay the same ones, whose elements change. Before the first step the parameters
        stay as they are.
        """
        own = [(p, p.backend.copy(p.array)) for _, p in self._parameters()]
        before, self._applied = self._applied, True
        try:
            self._write(dict(self._parameters()))
            yield
        finally:
            self._applied = before
            for parameter, array in own:
                place = backend.to_backend(array, parameter.device)
                parameter.array = parameter.backend.copyto(parameter.array, place)
                parameter.version += 1

    def averaged_model(self) -> Link:
        """Return a copy of the model with the averages as parameters, which is not trained."""
        self._parameters()
        model: Any = copy.deepcopy(self._target)
        for parameter in model.params():
            parameter.update_rule = None
            parameter.cleargrad()
        self._write(dict(model.namedparams()))
        return model  # type: ignore[no-any-return]  # of the target's class

    def _write(self, places: dict[str, Parameter]) -> None:
        for path, parameter in self._parameters():
            average = self._average(path, parameter)
            if average is not None:
                place, home = places[path], parameter.backend
                average = home.xp.astype(average, parameter.dtype)
                place.array = home.copyto(place.array, average)
                place.version += 1

    def serialize(self, serializer: Any) -> None:
        """Save or load the averages, and the number of steps that they are over."""
        paths = [] if self._target is None else [path for path, _ in self._target.namedparams()]
        count = "t"
        while f"/{count}" in paths:  # the averages have the names of their parameters
            count += "_"
        self.t = int(serializer(count, self.t))
        found = {path: serializer(path, self._averages.get(path)) for path in paths}
        loading, later = isinstance(serializer, Deserializer), serializer.optional("since")
        if loading:
            self._averages = {path: array for path, array in found.items() if array is not None}
            self._since = {path: int(later.optional_value(path, 0)) for path in paths}
            self._owners = {}
        else:
            for path in filter(self._since.get, paths):
                later.optional_value(path, self._since[path])


def _wide(parameter: Parameter) -> Any:
    """The array of a parameter; float32 for one of 16 bits."""
    home = parameter.backend
    if home.dtype_name(parameter.dtype) in ("float16", "bfloat16"):
        return home.xp.astype(parameter.array, home.dtype("float32"))
    return parameter.array
