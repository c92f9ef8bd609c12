"""plugrad: what Chainer's kit does."""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.kits import Missing, Prepared, chainer


class Kit(chainer.Kit):
    """plugrad with what is installed; the setting `plain` leaves compiled kernels out.

    With the settings `captured` and `fused` steps are those of `core.capture`; with a device arrays
    are there.
    """

    name = "plugrad"

    def __init__(self, threads: int, setting: str, device: str = ""):
        super().__init__(threads, setting)
        self.setting = setting
        self.dtype = np.dtype("f")
        try:
            self.device = self.c.get_device(device) if device else None
        except self.c.errors.CoreError as error:
            raise Missing(str(error)) from None

    def compute_in(self, numbers: str) -> None:
        if numbers == "tf32":
            self.c.config.tf32 = True
        if numbers == "bfloat16":
            self.c.config.dtype = self.dtype = self.c.backend.get("numpy").dtype(numbers)

    def synchronize(self) -> None:
        if self.device is not None:
            self.device.backend.synchronize(self.device)

    def held(self) -> int:
        stats = {} if self.device is None else self.device.backend.memory_stats()
        return stats["held"] if "held" in stats else super().held()

    def placed(self, model: Any) -> Any:
        return model if self.device is None else model.to_device(self.device)

    def batch(self, w: Any, module: Any) -> Any:
        given = [a.astype(self.dtype) if a.dtype == "f" else a for a in super().batch(w, module)]
        return given if self.device is None else [self.device.send(array) for array in given]

    def host(self, array: Any) -> Any:
        return array if self.device is None else self.device.backend.to_host(array)

    def train(self, w: Any, module: Any) -> Prepared:
        return self.perhaps_captured(super().train(w, module))

    def memory(self, w: Any, module: Any) -> Prepared:
        return self.perhaps_captured(super().memory(w, module))

    def infer(self, w: Any, module: Any) -> Prepared:
        return self.perhaps_captured(super().infer(w, module))

    def update(self, w: Any, module: Any) -> Prepared:
        return self.perhaps_captured(super().update(w, module))

    def chain(self, w: Any, module: Any) -> Prepared:
        c = self.c if self.device is None else Elsewhere(self.c, self.device)
        steps = self.written(module)(w, c)
        return self.perhaps_captured(Prepared(steps[w.form], lambda y: float(self.host(y).sum())))

    def perhaps_captured(self, prepared: Prepared) -> Prepared:
        if self.device is not None:
            self.device.use()  # which captured steps without arguments go by
        if self.setting not in ("captured", "fused"):
            return prepared
        capture = self.c.capture(fuse=self.setting == "fused")
        return replace(prepared, step=capture(prepared.step))

    def module(self) -> Any:
        import core
        import core.dataset
        import core.functions
        import core.iterators
        import core.links
        import core.optimizers

        return core

    def versions(self) -> dict[str, str]:
        found = {"plugrad": version("plugrad"), "numpy": np.__version__}
        try:
            return {**found, "numba": version("numba")}
        except PackageNotFoundError:
            return found

    def freed(self, w: Any) -> dict[str, bool]:
        return {"free_graph": w.form == "freed"}


class Elsewhere:
    """The module, whose Variables have their arrays on a device."""

    def __init__(self, module: Any, device: Any):
        self._module = module
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def Variable(self, array: Any) -> Any:
        return self._module.Variable(self._device.send(array))
