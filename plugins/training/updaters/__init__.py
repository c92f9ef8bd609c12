"""Updaters: one step of training."""

provides = {
    "multiprocess_parallel_updater": "MultiprocessParallelUpdater",
    "parallel_updater": "ParallelUpdater",
    "standard_updater": "StandardUpdater",
}
