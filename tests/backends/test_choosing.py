"""Which backend an array belongs to, which one makes new arrays, how arrays move, what is drawn."""

from __future__ import annotations

import contextvars
import copy
import json
import os
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest

import core
from core.arrays import backend as backends
from core.arrays.backend import (
    BACKENDS,
    Backend,
    BackendError,
    BackendUnavailable,
    Device,
    HostRandom,
)
from core.errors import CheckpointError

ROOT = Path(__file__).resolve().parents[2]
NUMPY = backends.get("numpy")
STRICT = backends.get("strict")  # the referee, registered for all tests
ELSEWHERE = "strict:1"


def fresh(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


# -- of -------------------------------------------------------------------------------------------


def test_an_array_is_known_by_its_type(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "a", np.float32, "w+", shape=(3,))
    assert backends.of(np.ones(2)) is backends.of(mapped, np.ones(1)) is NUMPY
    assert backends.of(STRICT.asarray([1.0])) is STRICT
    assert backends.of(core.Variable(np.ones(2)), np.ones(2)) is NUMPY
    assert BACKENDS[np.ndarray] is BACKENDS[np.memmap] is NUMPY
    assert backends.of() is backends.current()


@pytest.mark.parametrize("wrong", [[1.0], 1.0, "x", np.float32(1), {}])
def test_what_is_no_array_is_refused(wrong: Any) -> None:
    with pytest.raises(BackendError, match=r"one of the backends .*numpy.*; got a .*asarray"):
        backends.of(wrong)
    with pytest.raises(BackendError):
        backends.of(np.ones(2), wrong)


def test_a_parameter_without_shape_is_named_so() -> None:
    with pytest.raises(BackendError, match="a parameter has none until its shape is known"):
        backends.of(core.Parameter())


def test_mixtures_name_both_sides_and_the_cure() -> None:
    a, b = STRICT.asarray([1.0]), STRICT.asarray([1.0], device=1)
    with pytest.raises(BackendError, match=r"backends.*numpy and strict:0.*to_device\('numpy'\)"):
        backends.of(np.ones(1), a)
    with pytest.raises(BackendError, match=r"devices.*strict:0 and strict:1.*'strict:1'\)"):
        backends.of(a, b)


class Special(np.ndarray):
    """A subclass of NumPy's arrays that has a backend of its own."""


class SpecialBackend(type(NUMPY)):  # type: ignore[misc]
    name = "special"
    array_type = Special


@pytest.fixture
def special() -> Iterator[Backend]:
    made = backends.register(SpecialBackend())
    yield made
    backends.unregister(made)


def test_the_nearest_type_wins(special: Backend) -> None:
    assert BACKENDS[Special] is special
    assert BACKENDS[np.memmap] is BACKENDS[np.ndarray] is NUMPY
    assert "special" in backends.names()


def test_what_was_registered_can_be_forgotten(special: Backend) -> None:
    assert BACKENDS[Special] is special
    backends.unregister(special)
    assert BACKENDS[Special] is NUMPY
    assert "special" not in backends.names()


# -- choosing -------------------------------------------------------------------------------------


@pytest.fixture
def restored() -> Iterator[None]:
    yield
    core.arrays.array_backend.share_default(None)


def test_numpy_is_the_default_and_the_environment_can_say_otherwise() -> None:
    code = "import core; print(core.backend.current().name)"
    assert fresh(code, PLUGRAD_BACKEND="") == "numpy"
    assert "No backend is called 'nupmy'" in fresh(code, PLUGRAD_BACKEND="nupmy")


def test_importing_the_core_loads_no_backend() -> None:
    code = "import core, sys; print('numpy' in sys.modules, 'backends' in sys.modules)"
    assert fresh(code) == "False False"


def test_using_holds_inside_its_block_and_nests() -> None:
    outside = backends.current()
    with core.using("strict") as chosen:
        assert chosen is STRICT is backends.current()
        with core.using("numpy"):
            assert backends.current() is NUMPY
        assert backends.current() is STRICT
    assert backends.current() is outside
    with pytest.raises(KeyError), core.using("strict"):
        raise KeyError
    assert backends.current() is outside


def test_use_holds_for_every_thread_and_using_for_its_own(restored: None) -> None:
    assert core.use("strict") is STRICT
    assert in_thread(backends.current) is STRICT
    with core.using("numpy"):
        assert in_thread(backends.current) is STRICT
        assert contextvars.copy_context().run(backends.current) is NUMPY
        core.use("strict")
        assert backends.current() is NUMPY


def in_thread(function: Any) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_one_device_object_may_be_entered_by_several_threads() -> None:
    device, barrier, seen = core.get_device(ELSEWHERE), threading.Barrier(2), []

    def enter() -> None:
        with device:
            barrier.wait()
            seen.append(backends.current_device())
            barrier.wait()
        seen.append(backends.current_device())

    threads = [threading.Thread(target=enter) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, seen)) == ["numpy", "numpy", ELSEWHERE, ELSEWHERE]


def test_new_arrays_are_made_on_the_device_in_force() -> None:
    with core.using_device(ELSEWHERE) as device:
        assert STRICT.device_of(STRICT.asarray([1.0])) == device
        assert STRICT.device_of(STRICT.random.uniform((2,))) == device
    assert str(STRICT.device_of(STRICT.asarray([1.0]))) == "strict:0"


def test_unknown_and_unusable_backends_say_what_there_is() -> None:
    with pytest.raises(BackendError, match=r"No backend is called 'nunpy'.*Did you mean 'numpy'"):
        core.use("nunpy")
    reasons = backends.available()
    assert reasons["numpy"] is None
    assert set(reasons) == set(backends.names()) >= {"cuda", "numpy", "strict"}


def test_an_unusable_backend_says_why(special: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    why = {"cuda": "it rains."}
    monkeypatch.setattr(backends.known, "reason", why.get)
    monkeypatch.setattr(backends.known, "made", {})
    with pytest.raises(BackendUnavailable, match=r"'cuda' cannot be used here: it rains\. Avail"):
        backends.get("cuda")


# -- devices and copies ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("numpy", "numpy"),
        (-1, "numpy"),
        ("-1", "numpy"),
        ("@numpy", "numpy"),
        (NUMPY, "numpy"),
        ("strict", "strict:0"),
        (STRICT, "strict:0"),
    ],
)
def test_a_device_is_found_by_what_people_write(spec: Any, name: str) -> None:
    device = core.get_device(spec)
    assert str(device) == name
    assert core.get_device(device) is device
    assert core.get_device(name) == device
    assert device.xp is device.backend.xp


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("strict:x", "expected a name such as"),
        ("strict:", "expected a name such as"),
        ("strict:99", "has no device strict:99; it has strict:0, strict:1"),
        ("nowhere:1", "No backend is called 'nowhere'"),
        (1.5, "expected a name such as"),
        (None, "expected a name such as"),
        (True, "expected a name such as"),
    ],
)
def test_other_devices_are_refused(spec: Any, words: str) -> None:
    with pytest.raises(BackendError, match=words):
        core.get_device(spec)


@pytest.mark.skipif(backends.available()["cuda"] is None, reason="CUDA can be used here")
@pytest.mark.parametrize("spec", ["0", "@cupy", "@cupy:0"])
def test_devices_of_old_that_mean_a_gpu_ask_for_cuda(spec: str) -> None:
    with pytest.raises(BackendUnavailable, match="'cuda' cannot be used here"):
        core.get_device(spec)


def test_the_device_and_library_of_mixed_arguments() -> None:
    there = STRICT.asarray([1.0], device=1)
    assert str(backends.get_device_from_array(None, 1, core.Variable(there))) == ELSEWHERE
    assert str(backends.get_device_from_array()) == "numpy"
    assert backends.get_array_module(np.ones(1), core.Variable(there)) is STRICT.xp
    assert backends.get_array_module(np.ones(1), 2.0) is backends.get_array_module() is np


def test_copyto_crosses_backends() -> None:
    there = STRICT.asarray([0.0, 0.0], device=1)
    backends.copyto(there, core.Variable(np.array([1.0, 2.0])))
    assert backends.to_host(there).tolist() == [1.0, 2.0]


def test_a_device_that_is_used_makes_the_new_arrays(restored: None) -> None:
    core.get_device(ELSEWHERE).use()
    assert str(backends.current_device()) == ELSEWHERE


def test_cuda_is_found_where_scripts_look_for_it() -> None:
    code = (
        "import core.backends.cuda; from core.backends import cuda; from core import cuda as same; "
        "from core.backends.cuda import to_cpu; print(cuda is same is core.backends.cuda)"
    )
    assert fresh(code) == "True"


def test_devices_are_values() -> None:
    a, b = core.get_device(ELSEWHERE), core.get_device(ELSEWHERE)
    assert a == b
    assert hash(a) == hash(b)
    assert a != core.get_device("strict:0")
    assert a != ELSEWHERE
    assert pickle.loads(pickle.dumps(a)) == copy.deepcopy(a) == a
    assert pickle.loads(pickle.dumps(STRICT)) is STRICT
    assert repr(a) == "<device strict:1>"


def test_arrays_move_between_backends_and_back() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = backends.to_backend(x, ELSEWHERE)
    assert type(there) is STRICT.array_type
    assert str(STRICT.device_of(there)) == ELSEWHERE
    assert backends.to_backend(there, "strict") is backends.to_backend(there, STRICT) is there
    assert core.get_device("strict:0").send(there) is not there
    assert core.get_device("numpy").send(x) is x
    for back in (backends.to_host(there), backends.to_backend(there, "numpy")):
        assert type(back) is np.ndarray
        assert back.dtype == np.float32
        np.testing.assert_array_equal(back, x)
    assert backends.to_host(core.Variable(x)) is x


def test_defaults_of_copying_on_the_referee() -> None:
    a = STRICT.asarray([[1.0, 2.0], [3.0, 4.0]], device=1)
    b = STRICT.copy(a)
    STRICT.copyto(b, np.array([5, 6]))
    assert STRICT.device_of(b) == STRICT.device_of(a)
    np.testing.assert_array_equal(backends.to_host(b), [[5, 6], [5, 6]])
    np.testing.assert_array_equal(backends.to_host(a), [[1, 2], [3, 4]])
    STRICT.copyto(b, 7)
    assert STRICT.add_in_place(b, a) is b
    np.testing.assert_array_equal(backends.to_host(b), [[8, 9], [10, 11]])


@pytest.mark.parametrize("backend", [NUMPY, STRICT], ids=str)
def test_every_default_can_be_called(backend: Backend) -> None:
    x = backend.asarray(np.random.RandomState(0).rand(2, 3, 5, 5).astype(np.float32))
    w = backend.windows(x, 3, stride=2, pad=1)
    folded = backend.fold(w, (5, 5), stride=2, pad=1)
    assert w.shape == (2, 3, 3, 3, 3, 3)
    assert folded.shape == x.shape
    for result in (w, folded):
        assert isinstance(result, backend.array_type) or backend is NUMPY
        assert backend.dtype_name(result.dtype) == "float32"
    with backend.stream():
        backend.synchronize()
    backend.release_memory()
    assert all(type(size) is int for size in backend.memory_stats().values())
    assert "float32" in backend.dtypes()
    assert backend.kind(backend.dtype("int32")) == "i"
    assert backend.kind(backend.dtype("uint8")) == "u"
    assert backend.kind(backend.dtype("bool")) == "b"
    assert backend.kind(backend.dtype("complex64")) == "c"


# -- kernels --------------------------------------------------------------------------------------


def test_changes_of_kernels_are_told(special: Backend) -> None:
    told: list[tuple[Backend, str | None]] = []

    def listener(backend: Backend, key: str | None) -> None:
        told.append((backend, key))

    backends.on_kernels_changed.append(listener)
    try:
        for table in (
            special.kernels,
            special.gradient_kernels,
            special.update_kernels,
            special.update_all_kernels,
        ):
            assert dict(table) == {}
            table["pack.age:Op"] = len
            assert (list(table), len(table), table["pack.age:Op"]) == (["pack.age:Op"], 1, len)
            assert repr(table) == "KernelTable('special', ['pack.age:Op'])"
            del table["pack.age:Op"]
    finally:
        backends.on_kernels_changed.remove(listener)
    assert told == [(special, "pack.age:Op")] * 8


# -- random state ---------------------------------------------------------------------------------


@pytest.fixture
def chance() -> Iterator[None]:
    before = backends.random_state()
    yield
    backends.set_random_state(before)


def draw() -> list[Any]:
    return [
        random.random(),
        float(NUMPY.random.normal(())),
        float(backends.to_host(STRICT.random.normal(()))),
        *NUMPY.random.permutation(4).tolist(),
    ]


@pytest.mark.parametrize("seeded", [False, True])
def test_all_random_numbers_follow_from_one_state(chance: None, seeded: bool) -> None:
    core.seed(11 if seeded else None)
    draw()
    state = json.loads(json.dumps(backends.random_state()))
    first = draw()
    core.seed(12)
    assert draw() != first
    backends.set_random_state(state)
    assert draw() == first


def test_every_backend_draws_the_same_numbers(chance: None) -> None:
    for method, args in [
        ("normal", ((3,), "float64")),
        ("uniform", ((3,), "float32", -1, 1)),
        ("bernoulli", (0.5, (9,))),
        ("permutation", (7,)),
        ("integers", (0, 9, (5,))),
    ]:
        core.seed(3)
        expected = getattr(NUMPY.random, method)(*args)
        core.seed(3)
        found = getattr(HostRandom(STRICT), method)(*args, device=1)
        assert str(STRICT.device_of(found)) == ELSEWHERE
        np.testing.assert_array_equal(backends.to_host(found), expected)
    core.seed(3)
    by_object = STRICT.random.normal((2,), array_api_strict.float32)
    assert by_object.dtype == array_api_strict.float32


def test_the_environment_seeds(chance: None) -> None:
    code = "import core; print(core.backend.get('numpy').random.integers(0, 10**9))"
    assert fresh(code, PLUGRAD_SEED="4") == fresh(code, PLUGRAD_SEED="4")
    core.seed(4)
    assert fresh(code, PLUGRAD_SEED="4") == str(NUMPY.random.integers(0, 10**9))
    assert "PLUGRAD_SEED: expected an integer, got 'four'" in fresh(code, PLUGRAD_SEED="four")


@pytest.mark.parametrize("wrong", [{}, None, {"stream": None}, 3])
def test_what_is_no_random_state_is_refused(wrong: Any) -> None:
    with pytest.raises(CheckpointError, match="expected what core.backend.random_state"):
        backends.set_random_state(wrong)


@pytest.mark.parametrize("part", ["stream", "python", "backends"])
def test_a_damaged_state_changes_nothing(chance: None, part: str) -> None:
    core.seed(1)
    before = backends.random_state()
    damaged = {**before, part: {"numpy": {"bit_generator": "?"}} if part == "backends" else [1]}
    random.random()
    now = backends.random_state()
    with pytest.raises(CheckpointError, match="random state"):
        backends.set_random_state(damaged)
    assert backends.random_state() == now


def test_generators_of_backends_that_are_not_here_are_passed_over(chance: None) -> None:
    state = backends.random_state()
    first = draw()
    backends.set_random_state({**state, "backends": {**state["backends"], "elsewhere": [1]}})
    assert draw() == first


def test_draws_from_many_threads_are_all_different(chance: None) -> None:
    core.seed(0)
    found: list[float] = []

    def work() -> None:
        found.extend(float(NUMPY.random.uniform((), "float64")) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 200


def test_a_device_of_another_backend_is_refused() -> None:
    with pytest.raises(BackendError, match="backend 'strict' has no device numpy"):
        STRICT.asarray([1.0], device=core.get_device("numpy"))
    assert isinstance(core.get_device("numpy"), Device)
