"""plugrad: what Chainer's kit does."""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.kits import Prepared, chainer


class Kit(chainer.Kit):
    """plugrad with what is installed; the setting `plain` leaves compiled kernels out.

    With the settings `captured` and `fused` steps are those of `core.capture`, with `on NAME`
    arrays are those of a backend.
    """

    name = "plugrad"

    def __init__(self, threads: int, setting: str):
        super().__init__(threads, setting)
        self.setting = setting
        kind, _, name = setting.partition(" ")
        self.device = self.c.get_device(name) if kind == "on" else None

    def model(self, w: Any, module: Any) -> Any:
        model = super().model(w, module)
        return model if self.device is None else model.to_device(self.device)

    def batch(self, w: Any, module: Any) -> Any:
        given = super().batch(w, module)
        return given if self.device is None else [self.device.send(array) for array in given]

    def train(self, w: Any, module: Any) -> Prepared:
        return self.perhaps_captured(super().train(w, module))

    def memory(self, w: Any, module: Any) -> Prepared:
        return self.perhaps_captured(super().memory(w, module))

    def infer(self, w: Any, module: Any) -> Prepared:
        return self.perhaps_captured(super().infer(w, module))

    def chain(self, w: Any, module: Any) -> Prepared:
        if self.device is None:
            return self.perhaps_captured(super().chain(w, module))
        there, total = Elsewhere(self.c, self.device), self.device.xp.sum
        return Prepared(self.written(module)(w, there)[w.form], lambda y: float(total(y)))

    def perhaps_captured(self, prepared: Prepared) -> Prepared:
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
