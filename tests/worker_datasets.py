"""Datasets for worker processes, which import them from here."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import core
from backends.numpy_backend import blas
from core.registry.threads import num_threads


class Numbers:
    """The numbers 0 to `length` - 1, which give trouble at one of them."""

    def __init__(self, length, at=-1):
        self.length = length
        self.at = at

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index == self.at:
            self.trouble()
        return index


class Settings:
    """What `core.config` says while an example is made."""

    def __len__(self):
        return 100

    def __getitem__(self, index):
        return core.config.train, np.dtype(core.config.dtype).name


class Killed(Numbers):
    def trouble(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Leaving(Numbers):
    def trouble(self):
        os._exit(3)


class Stuck(Numbers):
    def trouble(self):
        time.sleep(1000)


class Slow(Numbers):
    def trouble(self):
        time.sleep(0.6)


class OwnError(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)


class Raising(Numbers):
    def trouble(self):
        raise OSError("not now")


class Stopping(Numbers):
    def trouble(self):
        next(iter([]))


class Exiting(Numbers):
    def trouble(self):
        sys.exit()


class RaisingOwn(Numbers):
    def trouble(self):
        raise OwnError("a", "b")


class KilledOnce(Numbers):
    """Kills its process unless the file is there, and makes it."""

    def __init__(self, length, at, path):
        super().__init__(length, at)
        self.path = Path(path)

    def trouble(self):
        if not self.path.exists():
            self.path.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Processes(Numbers):
    def __getitem__(self, index):
        time.sleep(0.02)
        return os.getpid()


class Threads(Numbers):
    """How many threads work is divided among where it is loaded, and those of BLAS at most."""

    def __getitem__(self, index):
        control = blas.control()
        return num_threads(), 1 if control is None else control.get()


class Unloadable(Numbers):
    def __setstate__(self, state):
        raise OSError("not here")


class Lambdas(Numbers):
    def __getitem__(self, index):
        return lambda: index


class Seeding:
    """Seeds where it arrives, as a module may where it is imported."""

    def __reduce__(self):
        return seeded, ()


def seeded():
    core.seed(0)
    np.random.seed(0)
    random.seed(0)


class Draws(Numbers):
    """Random numbers from wherever a dataset may draw them."""

    def __init__(self, length):
        super().__init__(length)
        self.kept = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)

    def __getitem__(self, index):
        ours = core.backend.get("numpy").random.uniform()
        shared = random.random(), np.random.rand(), float(ours)
        return index, *shared, *[float(generator.random()) for generator in self.kept]
