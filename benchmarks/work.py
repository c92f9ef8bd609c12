"""One workload in one framework, as its worker runs it."""

from functools import cached_property
from importlib import import_module

from benchmarks.kits import Prepared
from benchmarks.workloads import Workload


class Work:
    """One workload in one framework."""

    def __init__(self, framework: str, setting: str, threads: int, workload: Workload):
        self.kit = import_module(f"benchmarks.kits.{framework}").Kit(threads, setting)
        self.workload = workload
        self.module = import_module(f"benchmarks.models.{self.workload.model}")

    def able(self) -> bool:
        """Whether the framework can run it, and the model is written for it."""
        names = {self.kit.name, "chainer"} if self.kit.name == "plugrad" else {self.kit.name}
        written = self.workload.mode == "update" or any(hasattr(self.module, n) for n in names)
        return written and hasattr(self.kit, self.workload.mode)

    def amount(self) -> dict[str, int]:
        return self.module.work(self.workload)

    @cached_property
    def prepared(self) -> Prepared:
        return getattr(self.kit, self.workload.mode)(self.workload, self.module)

    def values(self, steps: int) -> list[float]:
        """What the first steps give, in numbers; they warm up as well."""
        return [self.prepared.value(self.prepared.step()) for _ in range(steps)]

    def run(self, repeat: int) -> None:
        step, result = self.prepared.step, None
        for _ in range(repeat):
            result = step()
        self.prepared.finish(result)
