"""plugrad: what Chainer's kit does."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.kits import chainer


class Kit(chainer.Kit):
    """plugrad with what is installed; the setting `plain` leaves compiled kernels out."""

    name = "plugrad"

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
