"""Pruning of trainings in a search by Optuna."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.link.serializer import AbstractSerializer
from core.training import Extension, TriggerSpec
from plugins.training.extensions.observed import Observed
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

    Of several ranks that train together, the trial of the first one is asked, for all.

    Needs Optuna: `pip install 'plugrad[hpo]'`. Raises KeyError where nothing has reported `key`.
    """

    ranks = "together"

    def __init__(self, trial: Any, key: str, trigger: TriggerSpec = (1, "epoch")) -> None:
        self._pruned = _optuna().TrialPruned
        self._trial = trial
        self._key = key
        self._observed = Observed("OptunaPruning", [key], trigger, warns=False)
        self._step = 0

    def initialize(self, trainer: Loop) -> None:
        """Let the mean be that over all ranks, where these call it together."""
        self._observed.begin(trainer, self.communicator)

    def collect(self) -> None:
        """Let the first rank have what was observed on all since the last report."""
        self._observed.collect()

    def __call__(self, trainer: Loop) -> None:
        """Take the observation into account; when it is time, ask the pruner."""
        summary = self._observed(trainer)
        if summary is None:
            return
        value = mean_of(summary, self._key, "OptunaPruning", trainer.observation)
        self._step += 1
        if self._is_to_end(value):
            raise self._pruned(
                f"Pruned after iteration {trainer.updater.iteration}: {self._key} is {value:.6g}."
            )

    def _is_to_end(self, value: float) -> bool:
        """Report to the trial; whether its pruner says so, of several ranks that of the first."""
        ends = False
        if self.leads:
            self._trial.report(value, self._step)
            ends = bool(self._trial.should_prune())
        return ends if self.communicator is None else bool(self.communicator.bcast_obj(ends))

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the number of reports, and what was observed since the last one."""
        self._observed.serialize(serializer)
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
