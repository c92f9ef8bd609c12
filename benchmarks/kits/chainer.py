"""Chainer, and plugrad, for which models are written the same."""

from typing import Any

import numpy as np

from benchmarks.kits import OnHost, Prepared

OPTIMIZERS = {
    "sgd": lambda o, rate: o.SGD(lr=rate),
    "momentum": lambda o, rate: o.MomentumSGD(lr=rate, momentum=0.9),
    "adam": lambda o, rate: o.Adam(alpha=rate),
}


class Kit(OnHost):
    """The module `c` is all that differs."""

    name = "chainer"

    def __init__(self, threads: int, setting: str, device: str = ""):
        super().__init__(threads, setting, device)
        self.c = self.module()

    def module(self) -> Any:
        import chainer

        return chainer

    def versions(self) -> dict[str, str]:
        return {self.name: self.c.__version__, "numpy": np.__version__}

    def written(self, module: Any) -> Any:
        """What the module has for this framework, or None."""
        return getattr(module, self.name, getattr(module, "chainer", None))

    def model(self, w: Any, module: Any) -> Any:
        model = self.written(module)(w, self.c)
        load(model, module.arrays(w))
        return self.placed(model)

    def placed(self, model: Any) -> Any:
        """The model where its arrays are to be."""
        return model

    def batch(self, w: Any, module: Any) -> Any:
        return module.batch(w)

    def host(self, array: Any) -> Any:
        """The values in NumPy's array."""
        return array

    def optimizer(self, w: Any, model: Any) -> Any:
        optimizer = OPTIMIZERS[w.optimizer](self.c.optimizers, w.rate)
        optimizer.setup(model)
        return optimizer

    def train(self, w: Any, module: Any) -> Prepared:
        model, batch = self.model(w, module), self.batch(w, module)
        optimizer, loss_of = self.optimizer(w, model), self.loss(model)

        def step() -> Any:
            loss = loss_of(*batch)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss.array

        return Prepared(step, float)

    def loss(self, model: Any) -> Any:
        """The model's own loss, or that of a classifier."""
        cross_entropy = self.c.functions.softmax_cross_entropy
        return getattr(model, "loss", lambda x, t: cross_entropy(model(x), t))

    def memory(self, w: Any, module: Any) -> Prepared:
        model, batch = self.model(w, module), self.batch(w, module)
        loss_of = self.loss(model)

        def step() -> Any:
            if not w.accumulate:
                model.cleargrads()
            loss = loss_of(*batch)
            loss.backward(**self.freed(w))
            return loss.array

        return Prepared(step, float)

    def freed(self, w: Any) -> dict[str, bool]:
        """Arguments of `backward` that let a graph die as the gradients are computed."""
        return {}

    def chain(self, w: Any, module: Any) -> Prepared:
        steps = self.written(module)(w, self.c)
        return Prepared(steps[w.form], lambda y: float(self.host(y).sum()))

    def load(self, w: Any, module: Any) -> Prepared:
        iterators, concat = self.c.iterators, self.c.dataset.concat_examples
        batches = iterators.MultiprocessIterator(
            module.Pictures(), w.batch, shuffle=False, n_processes=w.processes
        )
        return Prepared(lambda: concat(next(batches))[0], lambda x: float(x.mean()))

    def infer(self, w: Any, module: Any) -> Prepared:
        model, (x, _) = self.model(w, module), self.batch(w, module)
        c = self.c

        def step() -> Any:
            with c.using_config("train", False), c.no_backprop_mode():
                return model(x).array

        return Prepared(step, lambda y: float(np.square(self.host(y)).mean()))

    def update(self, w: Any, module: Any) -> Prepared:
        model = self.c.Chain()
        with model.init_scope():
            for name, value in module.arrays(w).items():
                setattr(model, name, self.c.Parameter(value))
        model, gradients = self.placed(model), self.batch(w, module)
        optimizer = self.optimizer(w, model)
        for name, gradient in zip(module.arrays(w), gradients, strict=True):
            getattr(model, name).grad = gradient

        def step() -> Any:
            optimizer.update()
            return model.p0.array

        return Prepared(step, lambda p: float(np.square(self.host(p)).mean()))


def load(model: Any, arrays: dict[str, Any]) -> None:
    """Give parameters their initial values; all must be named, and no more."""
    if hasattr(model, "take"):
        model.take(arrays)
        return
    parameters = {name.lstrip("/"): p for name, p in model.namedparams()}
    if set(parameters) != set(arrays):
        raise ValueError(f"the model has {sorted(parameters)}, the workload {sorted(arrays)}")
    for name, p in parameters.items():
        p.array[...] = arrays[name]
