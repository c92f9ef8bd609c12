"""`chainer.testing`: what tests of programs for Chainer use, beside what `core.testing` has."""

from __future__ import annotations

import contextlib
import operator
import os
import random as _random
import re
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from importlib import metadata
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
from plugrad_chainer.here.parameterized import Cases

import core
from core import serializers
from core.compat import cuda

# -- what a test needs ----------------------------------------------------------------------------


def _needs(there: Callable[[], bool], reason: str) -> Callable[[Any], Any]:
    def decorate(test: Any) -> Any:
        if isinstance(test, Cases):
            return test.each(decorate)
        return unittest.skipUnless(there(), reason)(test)

    return decorate


def _cuda() -> bool:
    return bool(cuda.available)


def slow(test: Any) -> Any:
    """A test that takes long; it runs like any other."""
    return test


gpu = _needs(_cuda, "needs a GPU and CuPy")
cudnn = _needs(lambda: False, "needs cuDNN, which CuPy no longer has")
ideep = _needs(lambda: False, "needs iDeep, which plugrad has not")
chainerx = _needs(lambda: False, "needs ChainerX, which plugrad has not")


def multi_gpu(gpu_num: int) -> Callable[[Any], Any]:
    """A test that needs so many GPUs."""

    def enough() -> bool:
        return _cuda() and int(cuda.cupy.cuda.runtime.getDeviceCount()) >= gpu_num

    return _needs(enough, f"needs {gpu_num} GPUs")


def with_requires(*requirements: str) -> Callable[[Any], Any]:
    """Skip a test unless distributions are installed, as `'scipy>=1.0'`."""
    return _needs(lambda: _installed(requirements), f"needs {', '.join(requirements)}")


def without_requires(*requirements: str) -> Callable[[Any], Any]:
    """Skip a test where distributions are installed."""
    return _needs(lambda: not _installed(requirements), f"needs no {', '.join(requirements)}")


def _installed(requirements: tuple[str, ...]) -> bool:
    for requirement in requirements:
        found = re.match(r"\s*([\w.-]+)\s*(.*)", requirement)
        if found is None:
            raise ValueError(f"with_requires: expected 'name>=1.0', got {requirement!r}")
        try:
            there = _number(metadata.version(found.group(1)))
        except metadata.PackageNotFoundError:
            return False
        for condition in filter(None, map(str.strip, found.group(2).split(","))):
            sign = next(sign for sign in _SIGNS if condition.startswith(sign))
            if not _SIGNS[sign](there, _number(condition[len(sign) :])):
                return False
    return True


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def _number(version: str) -> tuple[int, ...]:
    parts = [int(n) for n in re.findall(r"\d+", version)]
    return tuple((*parts, 0, 0, 0)[:3])


def is_available() -> bool:
    """Whether pytest is installed, by which Chainer's attributes mark tests."""
    return find_spec("pytest") is not None


def get_error() -> ImportError | None:
    """Why pytest cannot be used, if it cannot."""
    return None if is_available() else ImportError("pytest is not installed: pip install pytest")


def check_available(feature: str = "") -> None:
    """Raise unless pytest is installed."""
    error = get_error()
    if error is not None:
        raise RuntimeError(f"{feature} needs pytest: {error}")


# -- tools ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def assert_warns(expected: type[Warning]) -> Iterator[None]:
    """A `with` block that must warn of this."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    if not any(issubclass(w.category, expected) for w in seen):
        raise AssertionError(f"{expected.__name__} was not warned of")


def patch(target: str, *args: Any, **kwargs: Any) -> Any:
    """`unittest.mock.patch`, whose replacement must be called as the target can be."""
    new_callable = kwargs.pop("autospec", True)
    return mock.patch(target, *args, autospec=None if args else new_callable, **kwargs)


def run_module(name: str, file: str) -> None:
    """Run the tests of a file where it is executed itself."""
    if name == "__main__":
        import pytest

        sys.exit(pytest.main([file, "-vvs", "-x"]))


def get_trainer_with_mock_updater(
    stop_trigger: Any = (10, "iteration"),
    iter_per_epoch: int = 10,
    extensions: Any = None,
) -> Any:
    """A trainer whose updater counts, and does nothing else."""
    updater = mock.Mock()
    updater.get_all_optimizers.return_value = {}
    updater.communicator = None
    updater.iteration = 0
    updater.epoch = 0
    updater.epoch_detail = 0.0
    updater.is_new_epoch = True
    updater.previous_epoch_detail = None

    def update() -> None:
        updater.previous_epoch_detail = updater.epoch_detail
        updater.iteration += 1
        updater.epoch = updater.iteration // iter_per_epoch
        updater.epoch_detail = updater.iteration / iter_per_epoch
        updater.is_new_epoch = updater.iteration % iter_per_epoch == 0

    updater.update = update
    return core.training.Trainer(updater, stop_trigger, extensions=extensions)


def save_and_load(src: Any, dst: Any, filename: str, saver: Any, loader: Any) -> None:
    """Save one object, and load another from the file."""
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, filename)
        saver(path, src)
        loader(path, dst)


def save_and_load_npz(src: Any, dst: Any) -> None:
    """Save one object as NPZ, and load another from it."""
    save_and_load(src, dst, "tmp.npz", serializers.save_npz, serializers.load_npz)


def save_and_load_hdf5(src: Any, dst: Any) -> None:
    """Save one object as HDF5, and load another from it."""
    save_and_load(src, dst, "tmp.h5", serializers.save_hdf5, serializers.load_hdf5)


def generate_matrix(shape: Any, dtype: Any = float, **kwargs: Any) -> Any:
    """Random matrices with the given `singular_values`, by which alone it is told how they act."""
    values = np.asarray(kwargs.pop("singular_values"))
    if kwargs:
        raise TypeError(f"generate_matrix: unexpected {', '.join(kwargs)}")
    *batch, m, n = shape
    a = np.random.standard_normal((*batch, m, n))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * np.random.standard_normal(a.shape)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.einsum("...ik,...k,...kj->...ij", u, np.broadcast_to(values, s.shape), vh).astype(
        dtype
    )


# -- random numbers -------------------------------------------------------------------------------

_before: list[Any] = []


def generate_seed() -> int:
    """A number to seed with, from NumPy's generator."""
    return int(np.random.randint(0x7FFFFFFF))


def do_setup(deterministic: bool = True) -> None:
    """Fix the random numbers of Python and NumPy, until `do_teardown`."""
    _before.append((_random.getstate(), np.random.get_state()))
    if deterministic:
        _random.seed(99)
        np.random.seed(100)


def do_teardown() -> None:
    """Go on with the random numbers as before `do_setup`."""
    python, numpy = _before.pop()
    _random.setstate(python)
    np.random.set_state(numpy)


def fix_random(
    *, setup_method: str = "setUp", teardown_method: str = "tearDown"
) -> Callable[[Any], Any]:
    """Decorate a test, or a TestCase, so that its random numbers are the same every time."""

    def decorate(test: Any) -> Any:
        if isinstance(test, Cases):
            return test.each(decorate)
        if isinstance(test, type):
            set_up, tear_down = getattr(test, setup_method), getattr(test, teardown_method)

            def setUp(self: Any, *args: Any) -> None:
                do_setup()
                set_up(self, *args)

            def tearDown(self: Any, *args: Any) -> None:
                tear_down(self, *args)
                do_teardown()

            setattr(test, setup_method, setUp)
            setattr(test, teardown_method, tearDown)
            return test

        @wraps(test)
        def fixed(*args: Any, **kwargs: Any) -> Any:
            do_setup()
            try:
                return test(*args, **kwargs)
            finally:
                do_teardown()

        return fixed

    return decorate


class QuietTestRunner:
    """Runs a test suite and prints nothing."""

    def run(self, suite: Any) -> unittest.TestResult:
        """The result of the suite."""
        result = unittest.TestResult()
        suite(result)
        return result


def skipif(condition: Any) -> None:
    """Skip a doctest."""
    if condition:
        raise unittest.SkipTest("the condition of the doctest holds")


def skipif_requires_satisfied(*requirements: str) -> None:
    """Skip a doctest where distributions are installed."""
    skipif(_installed(requirements))


def skipif_not_enough_cuda_devices(device_count: int) -> None:
    """Skip a doctest unless there are so many GPUs."""
    skipif(not (_cuda() and int(cuda.cupy.cuda.runtime.getDeviceCount()) >= device_count))
