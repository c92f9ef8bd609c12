"""PyTorch: eager with its defaults, or with the workload's best honest setting, or compiled.

With the setting `best` it is that setting, with `compiled` whole steps are those of `torch.compile`
(which needs a compiler of C++).
"""

from typing import Any

import torch

from benchmarks.kits import Missing, OnHost, Prepared

NAMES = {"weight": "W", "bias": "b"}
NORMALIZED = {"weight": "gamma", "bias": "beta"}
OPTIMIZERS = {
    "sgd": lambda p, rate, **best: torch.optim.SGD(p, lr=rate, **best),
    "momentum": lambda p, rate, **best: torch.optim.SGD(p, lr=rate, momentum=0.9, **best),
    "adam": lambda p, rate, **best: torch.optim.Adam(p, lr=rate, **best),
}


class Kit(OnHost):
    """Eager PyTorch, on the CPU or a device."""

    name = "torch"

    def __init__(self, threads: int, setting: str, device: str = ""):
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        self.best = setting == "best"
        self.perhaps_compiled = torch.compile if setting == "compiled" else lambda step: step

        self.device, self.dtype = there(device), torch.float32

    def versions(self) -> dict[str, str]:
        name = getattr(torch.get_device_module(self.device), "get_device_name", None)
        return {"torch": torch.__version__, **({"device": name(self.device)} if name else {})}

    def compute_in(self, numbers: str) -> None:
        torch.set_float32_matmul_precision("high" if numbers == "tf32" else "highest")
        torch.backends.cudnn.allow_tf32 = numbers == "tf32"
        self.dtype = torch.bfloat16 if numbers == "bfloat16" else torch.float32

    def synchronize(self) -> None:
        if self.device.type != "cpu":
            torch.accelerator.synchronize(self.device)

    def held(self) -> int:
        if self.device.type == "cpu":
            return super().held()
        return int(torch.accelerator.max_memory_reserved(self.device))

    def tensor(self, array: Any) -> Any:
        """An array's values on the device; NumPy's whole numbers in the width PyTorch asks for."""
        given = torch.from_numpy(array.astype("i8") if array.dtype == "i4" else array)
        return given.to(self.device, self.dtype if given.is_floating_point() else None)

    def written(self, module: Any) -> Any:
        """What the module has for this framework, or None."""
        return getattr(module, "torch", None)

    def model(self, w: Any, module: Any) -> Any:
        with self.device:
            model = module.torch(w)
        load(model, module.arrays(w))
        model = model.to(self.dtype)
        return model.to(memory_format=torch.channels_last) if self.last(w) else model

    def batch(self, w: Any, module: Any) -> list[Any]:
        found = [self.tensor(a) for a in module.batch(w)]
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
        with self.device:
            steps = module.torch(w)
        return Prepared(self.perhaps_compiled(steps[w.form]), lambda y: float(y.sum()))

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
        parameters = [torch.nn.Parameter(self.tensor(a)) for a in module.arrays(w).values()]
        optimizer = self.optimizer(w, parameters)
        for p, gradient in zip(parameters, self.batch(w, module), strict=True):
            p.grad = gradient

        def step() -> Any:
            optimizer.step()
            return parameters[0].detach()

        return Prepared(self.perhaps_compiled(step), lambda p: float(p.square().mean()))


def there(device: str) -> torch.device:
    """PyTorch's device of plugrad's name; the CPU where PyTorch has none of that name."""
    try:
        found = torch.device(device.removeprefix("torch:"))
    except RuntimeError:
        return torch.device("cpu")
    try:
        torch.empty(1, device=found)
    except (AssertionError, RuntimeError, NotImplementedError) as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise Missing(
            f"PyTorch {torch.__version__} has no {found}: {why}. Its build for CUDA is installed "
            f"by the command of https://pytorch.org/get-started/locally"
        ) from None
    return found


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
