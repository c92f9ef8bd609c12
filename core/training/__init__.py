"""Training: the loop, and what an extension, an updater and a trigger are.

    updater = training.updaters.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (20, "epoch"), out="result")
    trainer.extend(extensions.LogReport())
    trainer.run()

`Run` does the same around a loop of one's own. The updaters, triggers and extensions themselves are
plugins, found in the modules of those names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.registry.public import listing
from core.training.extension import PRIORITY_EDITOR as PRIORITY_EDITOR
from core.training.extension import PRIORITY_READER as PRIORITY_READER
from core.training.extension import PRIORITY_WRITER as PRIORITY_WRITER
from core.training.extension import Extension as Extension
from core.training.extension import make_extension as make_extension
from core.training.loop import Loop as Loop
from core.training.results import new_directory as new_directory
from core.training.run import Run as Run
from core.training.trainer import Trainer as Trainer
from core.training.trigger import TriggerSpec as TriggerSpec
from core.training.trigger import get_trigger as get_trigger
from core.training.updater import Updater as Updater

if TYPE_CHECKING:
    from core.training import extensions as extensions
    from core.training import triggers as triggers
    from core.training import updaters as updaters

_FACADES = ("extensions", "triggers", "updaters")
_FROM = {
    "IntervalTrigger": "triggers",
    "MultiprocessParallelUpdater": "updaters",
    "ParallelUpdater": "updaters",
    "StandardUpdater": "updaters",
}


__dir__ = listing(__name__, [*_FACADES, *_FROM, "TriggerSpec", "reporter"])


def __getattr__(name: str) -> Any:
    """The facades, and the few plugins that have always been at home here too."""
    if name in _FACADES:
        return import_module(f"core.training.{name}")
    if name in _FROM:
        return getattr(import_module(f"core.training.{_FROM[name]}"), name)
    from core.errors import nearest

    known = [n for n in __dir__() if not n.startswith("_")]
    hint = nearest(name, known, "training")
    raise AttributeError(f"module 'core.training' has no attribute {name!r}.{hint}")
