"""What all tests share: Hypothesis profiles, the referee backend, and a watch over shared state."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # strict_backend and references

from strict_backend import StrictBackend

from core import backend, configuration, device, random_streams

PROFILES = {"dev": 5, "ci": 25, "intense": 1000}

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
    state = configuration.current()
    return {
        "config": dict(state.own),
        "hooks": dict(state.hooks),
        "shared config": dict(configuration._shared),
        "default device": device.default_device(),
        "random stream": random_streams.stream() is not None,
        "backends": backend.get("strict") is STRICT,
    }
