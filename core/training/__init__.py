"""Training: the loop, and what an extension, an updater and a trigger are.

    updater = training.updaters.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (20, "epoch"), out="result")
    trainer.extend(extensions.LogReport())
    trainer.run()

`fit` does so in one line, `Run` around your own loop. The updaters, triggers and extensions
themselves are plugins, found in the modules of those names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.registry.public import exporting
from core.training.extension import PRIORITY_EDITOR as PRIORITY_EDITOR
from core.training.extension import PRIORITY_READER as PRIORITY_READER
from core.training.extension import PRIORITY_WRITER as PRIORITY_WRITER
from core.training.extension import Extension as Extension
from core.training.extension import make_extension as make_extension
from core.training.loop import Loop as Loop
from core.training.results import new_directory as new_directory
from core.training.run import Run as Run
from core.training.trainer import Trainer as Trainer
from core.training.trigger import get_trigger as get_trigger
from core.training.updater import Updater as Updater

if TYPE_CHECKING:
    from core.training import extensions as extensions
    from core.training import triggers as triggers
    from core.training import updaters as updaters
    from core.training.buckets import UNDER_WAY as UNDER_WAY
    from core.training.buckets import Buckets as Buckets
    from core.training.collectives import on_host as on_host
    from core.training.communicator import Communicator as Communicator
    from core.training.fitting import fit as fit
    from core.training.sums import NARROW as NARROW
    from core.training.sums import Pending as Pending
    from core.training.trigger import TriggerSpec as TriggerSpec
    from core.training.triggers import IntervalTrigger as IntervalTrigger
    from core.training.updaters import MultiprocessParallelUpdater as MultiprocessParallelUpdater
    from core.training.updaters import ParallelUpdater as ParallelUpdater
    from core.training.updaters import StandardUpdater as StandardUpdater
else:  # checkers shall not take every name for known
    __getattr__, __dir__ = exporting(
        __name__,
        {
            "core.training.collectives": "on_host",
            "core.training.communicator": "Communicator",
            "core.training.buckets": "UNDER_WAY Buckets",
            "core.training.sums": "NARROW Pending",
            "core.training.fitting": "fit",
            "core.training.trigger": "TriggerSpec",
            # A few plugins have always been at home here too.
            "core.training.triggers": "IntervalTrigger",
            "core.training.updaters": "MultiprocessParallelUpdater ParallelUpdater StandardUpdater",
        },
        "reporter",
    )
