"""JAX: the whole step compiled by `jax.jit`, parameters handed over (donated) from step to step."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from benchmarks.kits import OnHost, Prepared


class Kit(OnHost):
    """JAX on the CPU; its environment limits its threads."""

    name = "jax"

    def versions(self) -> dict[str, str]:
        return {"jax": jax.__version__}

    def written(self, module: Any) -> Any:
        """What the module has for this framework, or None."""
        return getattr(module, "jax", None)

    def arrays(self, w: Any, module: Any) -> dict[str, Any]:
        return {name: jnp.asarray(a) for name, a in module.arrays(w).items()}

    def train(self, w: Any, module: Any) -> Prepared:
        batch = [jnp.asarray(a) for a in module.batch(w)]
        p = self.arrays(w, module)
        state = [p, start(w, p)]
        loss_of = getattr(module, "jax_loss", None) or classification(module)

        def compute(p: Any, s: Any, *batch: Any) -> Any:
            loss, gradients = jax.value_and_grad(lambda p: loss_of(w, p, *batch))(p)
            return loss, *update(w, p, gradients, s)

        compiled = jax.jit(compute, donate_argnums=(0, 1))

        def step() -> Any:
            loss, *state[:] = compiled(*state, *batch)
            return loss

        return Prepared(step, float, jax.block_until_ready)

    def infer(self, w: Any, module: Any) -> Prepared:
        x, p = jnp.asarray(module.batch(w)[0]), self.arrays(w, module)
        for name in [name for name in p if name.endswith("/gamma")]:
            p[name.replace("gamma", "mean")] = jnp.zeros_like(p[name])
            p[name.replace("gamma", "variance")] = jnp.ones_like(p[name])
        compiled = jax.jit(lambda p, x: module.jax(w, p, x))

        def step() -> Any:
            return compiled(p, x)

        return Prepared(step, lambda y: float((y * y).mean()), jax.block_until_ready)

    def chain(self, w: Any, module: Any) -> Prepared:
        return Prepared(module.jax(w)[w.form], lambda y: float(y.sum()), jax.block_until_ready)

    def update(self, w: Any, module: Any) -> Prepared:
        p = self.arrays(w, module)
        state = [p, start(w, p)]
        gradients = dict(zip(p, map(jnp.asarray, module.batch(w)), strict=True))
        compiled = jax.jit(lambda p, s, g: update(w, p, g, s), donate_argnums=(0, 1))

        def step() -> Any:
            state[:] = compiled(*state, gradients)
            return state[0]["p0"]

        return Prepared(step, lambda p: float((p * p).mean()), jax.block_until_ready)


def classification(module: Any) -> Any:
    def loss(w: Any, p: Any, x: Any, t: Any) -> Any:
        scores = jax.nn.log_softmax(module.jax(w, p, x))
        return -jnp.take_along_axis(scores, t.reshape(-1, 1), axis=1).mean()

    return loss


def start(w: Any, p: Any) -> Any:
    """What the optimizer keeps: the steps so far, and its moments."""
    moments = {"sgd": 0, "momentum": 1, "adam": 2}[w.optimizer]
    return jnp.zeros((), "i4"), [jax.tree.map(jnp.zeros_like, p) for _ in range(moments)]


def update(w: Any, p: Any, g: Any, state: Any) -> Any:
    """The new parameters, and what the optimizer keeps."""
    t, moments = state[0] + 1, state[1]
    if w.optimizer == "sgd":
        return jax.tree.map(lambda p, g: p - w.rate * g, p, g), (t, [])
    if w.optimizer == "momentum":
        v = jax.tree.map(lambda v, g: 0.9 * v - w.rate * g, moments[0], g)
        return jax.tree.map(jnp.add, p, v), (t, [v])
    m = jax.tree.map(lambda m, g: m + 0.1 * (g - m), moments[0], g)
    v = jax.tree.map(lambda v, g: v + 0.001 * (g * g - v), moments[1], g)
    rate = w.rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), p, m, v), (t, [m, v])


def linear(p: Any, name: str, x: Any) -> Any:
    return x @ p[f"{name}/W"].T + p[f"{name}/b"]


def convolution(p: Any, name: str, x: Any, stride: int = 1, pad: int = 0) -> Any:
    y = lax.conv_general_dilated(
        x,
        p[f"{name}/W"],
        (stride, stride),
        [(pad, pad)] * 2,
        dimension_numbers=("NCHW", "OIHW", "NCHW"),
    )
    b = p.get(f"{name}/b")
    return y if b is None else y + b[:, None, None]


def max_pooling(x: Any, size: int = 2, stride: int = 2, pad: int = 0) -> Any:
    padding = ((0, 0), (0, 0), (pad, pad), (pad, pad))
    return lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 1, size, size), (1, 1, stride, stride), padding
    )


def batch_normalization(p: Any, name: str, x: Any) -> Any:
    """By the batch, or by the mean and variance that inference knows."""
    gamma, beta = (p[f"{name}/{kind}"][:, None, None] for kind in ("gamma", "beta"))
    if f"{name}/mean" in p:
        mean, variance = (p[f"{name}/{kind}"][:, None, None] for kind in ("mean", "variance"))
    else:
        mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * gamma + beta


def layer_normalization(p: Any, name: str, x: Any, eps: float) -> Any:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + eps) * p[f"{name}/gamma"] + p[f"{name}/beta"]
