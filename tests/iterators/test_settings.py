"""Datasets that look at `core.config` see what holds where a batch is asked for."""

from functools import partial

import numpy as np
import pytest
from worker_datasets import Settings

import core
from core.iterators import MultiprocessIterator, MultithreadIterator, SerialIterator

KINDS = {
    "serial": SerialIterator,
    "threads": partial(MultithreadIterator, n_threads=2),
    "processes": partial(MultiprocessIterator, n_processes=1, n_prefetch=2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_datasets_see_the_settings_of_who_asks(kind):
    """Also where batches are on their way already: what trains is drawn at random, say."""
    usual, other = (True, "float32"), (False, "float16")
    iterator = KINDS[kind](Settings(), 2)
    for _ in range(2):
        assert iterator.next() == [usual] * 2
        with core.using_config("train", False), core.using_config("dtype", np.float16):
            assert iterator.next() == [other] * 2
    iterator.finalize()


def test_settings_that_stay_leave_what_is_on_its_way(monkeypatch):
    """Set anew to what they were, and with hooks that come and go."""
    with MultithreadIterator(Settings(), 2) as iterator, monkeypatch.context() as patched:
        forgotten = []
        patched.setattr(iterator, "_forget", lambda: forgotten.append(iterator.epoch_detail))
        for _ in range(3):
            with core.using_config("debug", False):
                core.config.train = True
                iterator.next()
            with core.function_hooks.TimerHook():
                iterator.next()
        assert forgotten == []
    del core.config.train
