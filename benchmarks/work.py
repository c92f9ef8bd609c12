"""One workload in one framework, as its worker runs it."""

import ctypes
import gc
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.kits import Prepared, resident
from benchmarks.workloads import Workload

GENERAL = ("update", "load")
"""Modes in which nothing of the model differs between frameworks."""

AHEAD = 8
"""Batches that a loader has ready at most, and some more."""

WARM = 3
"""Steps before memory is measured: a captured one is recorded in the second and the third."""


class Work:
    """One workload in one framework."""

    def __init__(
        self, framework: str, setting: str, threads: int, workload: Workload, device: str = ""
    ):
        self.kit = import_module(f"benchmarks.kits.{framework}").Kit(threads, setting, device)
        self.kit.compute_in(workload.numbers)
        self.began = self.kit.held() if device else 0
        self.workload = workload
        self.module = import_module(f"benchmarks.models.{self.workload.model}")

    def able(self) -> bool:
        """Whether the framework can run it, and the model is written for it."""
        mode = self.workload.mode
        written = mode in GENERAL or self.kit.written(self.module) is not None
        return written and hasattr(self.kit, mode)

    def amount(self) -> dict[str, int]:
        """What a step takes."""
        found: dict[str, int] = self.module.work(self.workload)
        return found

    @cached_property
    def prepared(self) -> Prepared:
        found: Prepared = getattr(self.kit, self.workload.mode)(self.workload, self.module)
        return found

    def values(self, steps: int) -> list[float]:
        """What the first steps give, in numbers; they warm up as well."""
        prepared, start = self.prepared, perf_counter()
        found = [prepared.value(prepared.step()) for _ in range(steps)]
        self._seconds = perf_counter() - start
        return found

    def warming(self) -> float:
        """Seconds that the last `values` took: of the first, what is compiled in them included."""
        return self._seconds

    def settle(self) -> None:
        """Take batches that were made while nobody measured, and wait for the device."""
        for _ in range(AHEAD if self.workload.mode == "load" else 0):
            self.prepared.step()
        self.kit.synchronize()

    def run(self, repeat: int) -> None:
        """Make steps, and wait for the last of them."""
        step, result = self.prepared.step, None
        for _ in range(repeat):
            result = step()
        self.prepared.finish(result)
        self.kit.synchronize()

    def held(self) -> int:
        """Bytes that have been taken for arrays at most, of the device where it tells its own."""
        self.kit.synchronize()
        most: int = self.kit.held()
        return most - self.began

    def peak(self, steps: int) -> dict[str, Any]:
        """What steps give, and the memory they take beside parameters and gradients.

        What the framework loads and keeps at its first steps is there before: batches of 1 have
        run, as many as a captured step takes to be compiled and replayed. So has been made what is
        made once: some steps have run, and what is free has been handed back to the system.
        """
        w = self.workload
        self.workload = replace(w, batch=1)
        self.values(WARM)
        self.workload = w
        del self.prepared
        hand_back()
        before = resident("VmRSS")
        values = []
        for _ in range(WARM):
            self.prepared  # noqa: B018
            hand_back()
            values += self.values(1)
        hand_back()
        start_anew()
        values += self.values(steps)
        most = resident("VmHWM")  # of the steps, before arrays are made to be counted
        parameters = sum(a.nbytes for a in self.module.arrays(w).values())
        inputs = sum(a.nbytes for a in self.module.batch(w))
        return {"values": values, "bytes": most - before - 2 * parameters - inputs}


def hand_back() -> None:
    """Let the system have what is free; of C libraries, GNU's has to be asked."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def start_anew() -> None:
    """Forget how much memory was in use at most."""
    Path("/proc/self/clear_refs").write_text("5")
