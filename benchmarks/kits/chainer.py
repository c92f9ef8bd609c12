"""Chainer, and plugrad, for which models are written the same."""

from typing import Any

import numpy as np

from benchmarks.kits import Prepared

OPTIMIZERS = {
    "sgd": lambda o, rate: o.SGD(lr=rate),
    "momentum": lambda o, rate: o.MomentumSGD(lr=rate, momentum=0.9),
    "adam": lambda o, rate: o.Adam(alpha=rate),
}


class Kit:
    """The module `c` is all that differs."""

    name = "chainer"

    def __init__(self, threads: int, setting: str):
        self.c = self.module()

    def module(self) -> Any:
        import chainer

        return chainer

    def versions(self) -> dict[str, str]:
        return {self.name: self.c.__version__, "numpy": np.__version__}

    def model(self, w: Any, module: Any) -> Any:
        model = getattr(module, self.name, module.chainer)(w, self.c)
        load(model, module.arrays(w))
        return model

    def optimizer(self, w: Any, model: Any) -> Any:
        optimizer = OPTIMIZERS[w.optimizer](self.c.optimizers, w.rate)
        optimizer.setup(model)
        return optimizer

    def train(self, w: Any, module: Any) -> Prepared:
        model, batch = self.model(w, module), module.batch(w)
        optimizer = self.optimizer(w, model)
        loss_of = getattr(model, "loss", None) or self.classification(model)

        def step() -> Any:
            loss = loss_of(*batch)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss.array

        return Prepared(step, float)

    def classification(self, model: Any) -> Any:
        cross_entropy = self.c.functions.softmax_cross_entropy
        return lambda x, t: cross_entropy(model(x), t)

    def infer(self, w: Any, module: Any) -> Prepared:
        model, (x, _) = self.model(w, module), module.batch(w)
        c = self.c

        def step() -> Any:
            with c.using_config("train", False), c.no_backprop_mode():
                return model(x).array

        return Prepared(step, lambda y: float(np.square(y).mean()))

    def update(self, w: Any, module: Any) -> Prepared:
        model = self.c.Chain()
        with model.init_scope():
            for name, value in module.arrays(w).items():
                setattr(model, name, self.c.Parameter(value))
        optimizer = self.optimizer(w, model)
        for name, gradient in zip(module.arrays(w), module.batch(w), strict=True):
            getattr(model, name).grad = gradient

        def step() -> Any:
            optimizer.update()
            return model.p0.array

        return Prepared(step, lambda p: float(np.square(p).mean()))


def load(model: Any, arrays: dict[str, Any]) -> None:
    """Give parameters their initial values; all must be named, and no more."""
    parameters = {name.lstrip("/"): p for name, p in model.namedparams()}
    if set(parameters) != set(arrays):
        raise ValueError(f"the model has {sorted(parameters)}, the workload {sorted(arrays)}")
    for name, p in parameters.items():
        p.array[...] = arrays[name]
