"""What `core.training.updaters` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.training.updaters.multiprocess_parallel_updater import (
    MultiprocessParallelUpdater as MultiprocessParallelUpdater,
)
from plugins.training.updaters.parallel_updater import ParallelUpdater as ParallelUpdater
from plugins.training.updaters.standard_updater import StandardUpdater as StandardUpdater

def of(distribution: str) -> Offer: ...
