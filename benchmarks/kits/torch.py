"""PyTorch: eager with its defaults, or with the workload's best honest setting, or compiled.

With the setting `best` it is that setting, with `compiled` whole steps are those of `torch.compile`
(which needs a compiler of C++).
"""

from typing import Any

import torch

from benchmarks.kits import Prepared

NAMES = {"weight": "W", "bias": "b"}
NORMALIZED = {"weight": "gamma", "bias": "beta"}
OPTIMIZERS = {
    "sgd": lambda p, rate, **best: torch.optim.SGD(p, lr=rate, **best),
    "momentum": lambda p, rate, **best: torch.optim.SGD(p, lr=rate, momentum=0.9, **best),
    "adam": lambda p, rate, **best: torch.optim.Adam(p, lr=rate, **best),
}


class Kit:
    """Eager PyTorch on the CPU."""

    name = "torch"

    def __init__(self, threads: int, setting: str):
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        self.best = setting == "best"
        self.perhaps_compiled = torch.compile if setting == "compiled" else lambda step: step

    def versions(self) -> dict[str, str]:
        return {"torch": torch.__version__}

    def written(self, module: Any) -> Any:
        """What the module has for this framework, or None."""
        return getattr(module, "torch", None)

    def model(self, w: Any, module: Any) -> Any:
        model = module.torch(w)
        load(model, module.arrays(w))
        return model.to(memory_format=torch.channels_last) if self.last(w) else model

    def batch(self, w: Any, module: Any) -> list[Any]:
        found = [
            torch.from_numpy(a.astype("i8") if a.dtype == "i4" else a) for a in module.batch(w)
        ]
        if self.last(w):
            found[0] = found[0].to(memory_format=torch.channels_last)
        return found

    def last(self, w: Any) -> bool:
        return self.best and "channels_last" in w.best

    def optimizer(self, w: Any, parameters: Any) -> Any:
        best = {"fused": True} if self.best and "fused" in w.best else {}
        return OPTIMIZERS[w.optimizer](list(parameters), w.rate, **best)

    def train(self, w: Any, module: Any) -> Prepared:
        model, batch = self.model(w, module), self.batch(w, module)
        optimizer = self.optimizer(w, model.parameters())
        loss_of = loss(model)

        def step() -> Any:
            optimizer.zero_grad()
            loss = loss_of(*batch)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return Prepared(self.perhaps_compiled(step), float)

    def memory(self, w: Any, module: Any) -> Prepared:
        model, batch = self.model(w, module), self.batch(w, module)
        loss_of = loss(model)

        def step() -> Any:
            if not w.accumulate:
                model.zero_grad()
            found = loss_of(*batch)
            found.backward()
            return found.detach()

        return Prepared(step, float)

    def chain(self, w: Any, module: Any) -> Prepared:
        step = self.perhaps_compiled(module.torch(w)[w.form])
        return Prepared(step, lambda y: float(y.sum()))

    def load(self, w: Any, module: Any) -> Prepared:
        loader = torch.utils.data.DataLoader(
            module.Pictures(), w.batch, num_workers=w.processes, persistent_workers=True
        )
        batches = iter(loader)
        return Prepared(lambda: next(batches)[0], lambda x: float(x.mean()))

    def infer(self, w: Any, module: Any) -> Prepared:
        model, (x, _) = self.model(w, module).eval(), self.batch(w, module)
        without = torch.inference_mode if self.best else torch.no_grad

        def step() -> Any:
            with without():
                return model(x)

        return Prepared(self.perhaps_compiled(step), lambda y: float(y.square().mean()))

    def update(self, w: Any, module: Any) -> Prepared:
        parameters = [torch.nn.Parameter(torch.from_numpy(a)) for a in module.arrays(w).values()]
        optimizer = self.optimizer(w, parameters)
        for p, gradient in zip(parameters, module.batch(w), strict=True):
            p.grad = torch.from_numpy(gradient)

        def step() -> Any:
            optimizer.step()
            return parameters[0].detach()

        return Prepared(step, lambda p: float(p.square().mean()))


def loss(model: Any) -> Any:
    """The model's own loss, or that of a classifier."""
    cross_entropy = torch.nn.functional.cross_entropy
    return getattr(model, "loss", lambda x, t: cross_entropy(model(x), t))


def load(model: Any, arrays: dict[str, Any]) -> None:
    """Give parameters their initial values; all must be named, and no more."""
    tensors = {name: torch.from_numpy(a) for name, a in arrays.items()}
    if hasattr(model, "take"):
        with torch.no_grad():
            model.take(tensors)
        return
    arrays = getattr(model, "renamed", dict)(arrays)
    parameters = {our_name(model, name): p for name, p in model.named_parameters()}
    if set(parameters) != set(arrays):
        raise ValueError(f"the model has {sorted(parameters)}, the workload {sorted(arrays)}")
    with torch.no_grad():
        for name, p in parameters.items():
            p.copy_(torch.from_numpy(arrays[name]))


def our_name(model: Any, name: str) -> str:
    """As the parameter is called in plugrad, where a Sequential counts links alone."""
    path, _, kind = name.rpartition(".")
    owner = model.get_submodule(path)
    if isinstance(model, torch.nn.Sequential) and path.isdecimal():
        learning = [child for child, m in model.named_children() if list(m.parameters())]
        path = str(learning.index(path))
    normalizes = isinstance(owner, (torch.nn.BatchNorm2d, torch.nn.LayerNorm))
    return f"{path.replace('.', '/')}/{(NORMALIZED if normalizes else NAMES)[kind]}"
