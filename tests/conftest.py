"""What all tests share: how many run, how long they search, what they draw; and the referee."""

import gc
import os
import random
import sys
from pathlib import Path
from zlib import crc32

if "PYTEST_XDIST_WORKER" in os.environ:  # a core for each: threads of BLAS would wait for others'
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Plugins that are installed beside plugrad are none of what is tested; those that tests bring are.
os.environ["PLUGRAD_DISABLE_PLUGINS"] = "*"

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # strict_backend and references

from strict_backend import StrictBackend

from core.arrays import array_backend, backend, random_streams
from core.registry import configuration

PROFILES = {"dev": 5, "ci": 20, "intense": 1000}

for name, examples in PROFILES.items():
    settings.register_profile(
        name,
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)


def pytest_xdist_auto_num_workers(config):
    """A worker for each core that this process may use; none for tests that are named."""
    if _are_named(config):
        return 0
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def pytest_configure(config):
    """Slow tests are left out unless somebody names them or chooses marks."""
    if _are_named(config) and config.option.markexpr == "not slow":
        config.option.markexpr = ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """What a test draws, weights above all, follows from its name: a failure comes again."""
    seed = crc32(item.nodeid.encode())
    random.seed(seed)
    np.random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Nothing of what is made meanwhile is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def what_stands_by_now_stays():
    """Let no garbage collection look again through what is left after a file of tests.

    Beside hundreds of thousands of cached objects and tests each would take most of a second.
    """
    yield
    gc.collect()
    gc.freeze()


def _are_named(config):
    return any("::" in argument for argument in config.args)


STRICT = backend.register(StrictBackend())


@pytest.fixture(autouse=True)
def nothing_leaks():
    """Fail a test that leaves configuration, hooks, a default backend or a random stream behind."""
    before = _shared_state()
    yield
    after = _shared_state()
    left = [name for name in before if before[name] != after[name]]
    assert not left, f"the test left behind: {', '.join(f'{n}={after[n]!r}' for n in left)}"


def _shared_state():
    state = configuration.current_state()
    return {
        "config": dict(state.own),
        "hooks": dict(state.hooks),
        "shared config": dict(configuration._shared),
        "default device": array_backend.default_device(),
        "random stream": random_streams.stream() is not None,
        "backends": backend.get("strict") is STRICT,
    }
