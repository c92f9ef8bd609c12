"""NumPy alone: models whose gradients are written by hand, the least that any of this can cost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.kits import OnHost, Prepared


@dataclass(frozen=True)
class Model:
    """What a model's module gives."""

    forward: Callable[[Any], Any]
    gradients: Callable[[Any, Any], tuple[Any, dict[str, Any]]]
    """The loss, and the gradient of each parameter."""


class Kit(OnHost):
    """No framework."""

    name = "numpy"
    Model = Model

    def versions(self) -> dict[str, str]:
        return {"numpy": np.__version__}

    def written(self, module: Any) -> Any:
        """What the module has for this framework, or None."""
        return getattr(module, "numpy", None)

    def load(self, w: Any, module: Any) -> Prepared:
        """One example after another in this process, without others."""
        pictures, place = module.Pictures(), [0]

        def step() -> Any:
            place[0] += w.batch
            return np.stack([pictures[i][0] for i in range(place[0] - w.batch, place[0])])

        return Prepared(step, lambda x: float(x.mean()))

    def train(self, w: Any, module: Any) -> Prepared:
        p, batch = module.arrays(w), module.batch(w)
        model, update = module.numpy(w, p, self), optimizer(w, p)

        def step() -> Any:
            loss, gradients = model.gradients(*batch)
            update(gradients)
            return loss

        return Prepared(step, float)

    def infer(self, w: Any, module: Any) -> Prepared:
        forward, (x, _) = module.numpy(w, module.arrays(w), self).forward, module.batch(w)
        return Prepared(lambda: forward(x), lambda y: float(np.square(y).mean()))

    def update(self, w: Any, module: Any) -> Prepared:
        p = module.arrays(w)
        update, gradients = optimizer(w, p), dict(zip(p, module.batch(w), strict=True))

        def step() -> Any:
            update(gradients)
            return p["p0"]

        return Prepared(step, lambda p: float(np.square(p).mean()))

    @staticmethod
    def cross_entropy(y: Any, t: Any) -> tuple[Any, Any]:
        """The mean loss, and its gradient in place of `y`."""
        rows = np.arange(len(t))
        y -= y.max(1, keepdims=True)
        np.exp(y, out=y)
        y /= y.sum(1, keepdims=True)
        loss = -np.log(y[rows, t]).mean()
        y[rows, t] -= 1
        y /= len(t)
        return loss, y


def optimizer(w: Any, p: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Return what makes a step, in place and in blocks that stay in the cache."""
    return {"sgd": sgd, "adam": adam}[w.optimizer](w.rate, p)


def sgd(rate: float, p: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    def update(gradients: dict[str, Any]) -> None:
        for name, g in gradients.items():
            g *= rate
            p[name] -= g

    return update


BLOCK = 16384


def adam(rate: float, p: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    moments = {name: (np.zeros(a.size, "f"), np.zeros(a.size, "f")) for name, a in p.items()}
    steps = [0]
    scratch, change = np.empty(BLOCK, "f"), np.empty(BLOCK, "f")

    def update(gradients: dict[str, Any]) -> None:
        steps[0] += 1
        alpha = rate * (1 - 0.999 ** steps[0]) ** 0.5 / (1 - 0.9 ** steps[0])
        for name, gradient in gradients.items():
            whole = (p[name].ravel(), gradient.ravel(), *moments[name])
            for i in range(0, gradient.size, BLOCK):
                block(alpha, *(a[i : i + BLOCK] for a in whole))

    def block(alpha: float, value: Any, g: Any, m: Any, v: Any) -> None:
        a, b = scratch[: len(g)], change[: len(g)]
        np.subtract(g, m, out=a)
        a *= 0.1
        m += a
        np.multiply(g, g, out=a)
        a -= v
        a *= 0.001
        v += a
        np.sqrt(v, out=a)
        a += 1e-8
        np.divide(m, a, out=b)
        b *= alpha
        value -= b

    return update
