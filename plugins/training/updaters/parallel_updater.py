"""One batch, divided among several copies of a model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import core
from core import Link
from core.arrays import backend
from core.dataset import Iterator, concat_examples
from core.errors import nearest
from core.errors.kinds import checked
from core.link.recurrent_state import serialize_carried
from core.link.serializer import AbstractSerializer, Deserializer
from core.optimizer import Optimizer
from plugins.training.calling import loss_of
from plugins.training.updaters.meanwhile import Meanwhile
from plugins.training.updaters.standard_updater import StandardUpdater

if TYPE_CHECKING:
    from core.training import Loop


class ParallelUpdater(StandardUpdater):
    """Divide each batch among copies of the model, add their gradients, and update once.

    `devices` maps names, 'main' among them, to devices: the optimizer's target moves to that of
    'main', each other device gets a copy of it. `models` gives the copies themselves, by the same
    names; the target must be one of them. The model number i of n takes the examples i, i + n, ...;
    one that is left without examples sits the update out. Afterwards the copies take over the
    target's parameters and persistent values; what is changed in it between updates, as these, what
    is frozen, and attributes of links that are numbers or text, they take over before the next one.

    Gradients are added, not averaged: where the loss is a mean over its examples, n copies make
    steps n times as long as StandardUpdater would. Divide the learning rate by n.

    One process divides a batch among few GPUs; for a process for each of them, on any number of
    machines, see `core.communicators`.

    Values that a copy reports appear under its name: 'second/loss'. Other arguments are those of
    StandardUpdater. Raises ValueError where neither models nor devices are given, or the target is
    not among the models, KeyError where a name is missing.

    >>> import core.links as L, numpy as np
    >>> from core import iterators, optimizers, training
    >>> model = L.Classifier(L.Linear(2, 3))
    >>> updater = training.updaters.ParallelUpdater(
    ...     iterators.SerialIterator([(np.ones(2, "f"), 0)] * 4, 4),
    ...     optimizers.SGD(0.1 / 2).setup(model),
    ...     devices={"main": "numpy", "second": "numpy"},
    ... )
    >>> updater.update()
    >>> updater.iteration
    1
    """

    @checked
    def __init__(
        self,
        iterator: Iterator | dict[str, Iterator],
        optimizer: Optimizer | dict[str, Optimizer],
        converter: Callable[[list[Any], Any], Any] = concat_examples,
        models: dict[str, Link] | None = None,
        devices: dict[str, Any] | None = None,
        loss_func: Callable[..., Any] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        super().__init__(
            iterator,
            optimizer,
            converter,
            loss_func=loss_func,
            loss_scale=loss_scale,
            auto_new_epoch=auto_new_epoch,
        )
        target = self.get_optimizer("main").target
        self._models = _copies(target, devices) if models is None else dict(models)
        self._devices = dict.fromkeys(self._models) if devices is None else dict(devices)
        self._main = self._name_of(target)
        self._meanwhile = Meanwhile()
        self._meanwhile.see(target)
        for name in self._models:
            if name not in self._devices:
                raise KeyError(
                    f"ParallelUpdater: expected a device for every model, found none for {name!r}; "
                    f"devices has {', '.join(map(repr, self._devices))}."
                    + nearest(name, self._devices)
                )

    def _name_of(self, target: Any) -> str:
        for name, model in self._models.items():
            if model is target:
                return name
        raise ValueError(
            "ParallelUpdater: expected the optimizer's target among the models "
            f"({', '.join(map(repr, self._models))}), found other links only. Give it under 'main'."
        )

    def connect_trainer(self, trainer: Loop) -> None:
        """Let the trainer know the copies by their names."""
        for name, model in self._others():
            trainer.reporter.add_observer(name, model)
            trainer.reporter.add_observers(name, model.namedlinks(skipself=True))

    def _others(self) -> list[tuple[str, Any]]:
        return [(name, model) for name, model in self._models.items() if name != self._main]

    def update_core(self) -> None:
        """Take a batch, compute the losses of its shares, add up gradients, update."""
        optimizer = self.get_optimizer("main")
        shares = self._shares(self.next_batch())
        changes = self._meanwhile.changes(optimizer.target)
        for _, model in self._others():
            changes.make(model)
            model.copyparams(optimizer.target)  # which others may have changed as well
        for model in self._models.values():
            model.cleargrads()
        losses = self._losses(shares)
        keep = core.config.keep_graph_on_report
        for model in self._models.values():
            for link in model.links():
                link.release_graph()
        while losses:  # each graph is freed while backward goes over it
            losses.pop().backward(loss_scale=optimizer.loss_scale, free_graph=not keep)
        for _, model in self._others():
            optimizer.target.addgrads(model)
        optimizer.update()
        for _, model in self._others():
            model.copyparams(optimizer.target)
        self._meanwhile.see(optimizer.target)
        self.count_epoch()

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what StandardUpdater does; loading gives the copies what the target has."""
        super().serialize(serializer)
        if isinstance(serializer, Deserializer):
            for _, model in self._others():
                model.copyparams(self._models[self._main])
        for name, model in self._others():
            serialize_carried(model, serializer.optional("carried of " + name))

    def _shares(self, batch: list[Any]) -> dict[str, Any]:
        """Name -> arrays of every n-th example, for the models that get any."""
        n = len(self._models)
        return {
            name: self.converter(batch[i::n], self._devices[name])
            for i, name in enumerate(self._models)
            if batch[i::n]
        }

    def _losses(self, shares: dict[str, Any]) -> list[Any]:
        """The target's loss comes first: where it initializes parameters, the copies take these."""
        target = self._models[self._main]
        complete = all([parameter.is_initialized for parameter in target.params()])
        losses = []
        if self._main in shares:
            losses.append(self._loss(target, shares[self._main]))
        for name, model in self._others():
            if not complete:
                model.copyparams(target)
            if name in shares:
                losses.append(self._loss(model, shares[name]))
        return losses

    def _loss(self, model: Any, arrays: Any) -> Any:
        with backend.using_device(model.device), core.force_backprop_mode():
            return loss_of(type(self).__name__, self.loss_func or model, arrays)


def _copies(target: Any, devices: dict[str, Any] | None) -> dict[str, Any]:
    if devices is None:
        raise ValueError(
            "ParallelUpdater: expected models or devices, got neither. Give devices such as "
            "{'main': 'cuda:0', 'second': 'cuda:1'}."
        )
    if "main" not in devices:
        raise KeyError(
            f"ParallelUpdater: expected a device called 'main', got "
            f"{', '.join(map(repr, devices)) or 'none'}.{nearest('main', devices)}"
        )
    models = {}
    for name, device in devices.items():
        models[name] = target if name == "main" else copy.deepcopy(target)
        models[name].to_device(device)
        if name != "main":
            for parameter in models[name].params():
                parameter.update_rule = None  # and its state: the copies are never updated
    return models
