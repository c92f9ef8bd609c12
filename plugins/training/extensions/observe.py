"""Your own values in the observation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from core.errors.arguments import refuse_idle
from core.errors.kinds import checked
from core.training import PRIORITY_WRITER, make_extension

if TYPE_CHECKING:
    from core.training import Loop


def observe_value(observation_key: str, target_func: Callable[[Any], Any]) -> Any:
    """Make an extension that observes `target_func(trainer)` once an epoch.

    >>> from types import SimpleNamespace
    >>> trainer = SimpleNamespace(observation={}, updater=SimpleNamespace(iteration=7))
    >>> observe_value("steps", lambda trainer: trainer.updater.iteration)(trainer)
    >>> trainer.observation
    {'steps': 7}
    """
    if not callable(target_func):
        raise TypeError(
            f"observe_value: expected a function of the trainer that gives {observation_key!r}, "
            f"got {target_func!r:.60}."
        )

    refuse_idle("observe_value", target_func)
    made = make_extension((1, "epoch"), "observe_value", PRIORITY_WRITER)
    return made(partial(_observe, observation_key, target_func))  # which can be pickled


def _observe(key: str, target_func: Callable[[Any], Any], trainer: Loop) -> None:
    trainer.observation[key] = target_func(trainer)


@checked
def observe_lr(optimizer_name: str = "main", observation_key: str = "lr") -> Any:
    """Make an extension that observes the learning rate of an optimizer, once an epoch.

    An optimizer that has none, as AdaDelta, is an error before the first update. That of Adam is
    `alpha` with its correction for the number of steps.
    """
    rate = partial(_rate, optimizer_name)
    observe = observe_value(observation_key, rate)
    observe.initialize = rate
    return observe


def _rate(optimizer_name: str, trainer: Loop) -> Any:
    return trainer.updater.get_optimizer(optimizer_name).lr
