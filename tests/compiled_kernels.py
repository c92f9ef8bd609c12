"""Which arrays compiled kernels take, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import core
from backends.numpy_backend import fusion
from backends.numpy_backend.kernels import compiler, tables
from backends.numpy_backend.kernels.compiled.math import arithmetic, broadcasting, extrema
from core.ops.dispatch import forget_plans
from core.registry.lazy import resolve

NUMPY = core.backend.get("numpy")


def call_small(patch: pytest.MonkeyPatch, least: int) -> None:
    """Let compiled kernels take less than so many elements for small."""
    found = tables()
    for target in {target for section in found.values() for target in section.values()}:
        resolve(target)  # what they say of themselves when they are imported stays
    patch.setattr(compiler, "SMALL", least)


@contextmanager
def taking(least: int) -> Iterator[None]:
    """Compiled kernels take arrays of so many elements or more."""
    with pytest.MonkeyPatch.context() as patch:
        call_small(patch, least)
        patch.setattr(fusion, "CALL", min(least, fusion.CALL))
        patch.setattr(fusion, "SHORT", min(least, fusion.SHORT))
        for module in (arithmetic, extrema):
            patch.setattr(module, "LEAST", min(least, module.LEAST))
        patch.setattr(broadcasting, "PART", min(least, broadcasting.PART))
        found = tables()
        for target in {*found["compute"].values(), *found["gradient"].values()}:
            kernel = resolve(target)
            if hasattr(kernel, "least"):
                patch.setattr(kernel, "least", least)
        forget_plans(NUMPY)
        yield
    forget_plans(NUMPY)
