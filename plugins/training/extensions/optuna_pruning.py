"""Pruning of trainings in a search by Optuna."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.link.serializer import AbstractSerializer
from core.training import Extension, TriggerSpec, get_trigger
from core.training.reporter import DictSummary
from plugins.training.triggers.best_value_trigger import mean_of

if TYPE_CHECKING:
    from core.training import Loop


class OptunaPruning(Extension):
    """Report the progress to an Optuna `trial`, and end the training if the pruner says so.

    Whenever `trigger` fires, the mean of the observed `key` since the last time is reported to the
    trial; the first report is step 1, the next one step 2. To end a training, `optuna.TrialPruned`
    is raised, which the study expects from its objective:

        def objective(trial):
            trainer = make_trainer(lr=trial.suggest_float("lr", 1e-4, 1e-1, log=True))
            trainer.extend(extensions.OptunaPruning(trial, "validation/main/loss"))
            trainer.run(show_loop_exception_msg=False)
            return trainer.observation["validation/main/loss"]

    Needs Optuna: `pip install 'plugrad[hpo]'`. Raises KeyError where nothing has reported `key`.
    """

    def __init__(self, trial: Any, key: str, trigger: TriggerSpec = (1, "epoch")) -> None:
        self._pruned = _optuna().TrialPruned
        self._trial = trial
        self._key = key
        self._trigger = get_trigger(trigger)
        self._summary = DictSummary()
        self._step = 0

    def __call__(self, trainer: Loop) -> None:
        """Take the observation into account; when it is time, ask the pruner."""
        if self._key in trainer.observation:
            self._summary.add({self._key: trainer.observation[self._key]})
        if not self._trigger(trainer):
            return
        value = mean_of(self._summary, self._key, "OptunaPruning", trainer.observation)
        self._summary = DictSummary()
        self._step += 1
        self._trial.report(value, self._step)
        if self._trial.should_prune():
            raise self._pruned(
                f"Pruned after iteration {trainer.updater.iteration}: {self._key} is {value:.6g}."
            )

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the number of reports, and what was observed since the last one."""
        if hasattr(self._trigger, "serialize"):
            self._trigger.serialize(serializer["trigger"])
        self._summary.serialize(serializer["summary"])
        self._step = int(serializer("step", self._step))


def _optuna() -> Any:
    try:
        return import_module("optuna")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "OptunaPruning: expected Optuna to be installed, found none. Install it with "
            "`pip install 'plugrad[hpo]'`.",
            name="optuna",
        ) from error
