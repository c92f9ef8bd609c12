"""L-BFGS: steps that use the curvature seen in the last steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from core import Parameter, Variable
from core.arrays import backend
from core.errors import TraceError, UpdateError
from core.optimizer import GradientMethod, ParameterGroup, Step, UpdateRule
from core.training import reporter
from plugins.optimizers.hooks.norms import inner
from plugins.optimizers.line_search import strong_wolfe

Vector = list[Any]  # an array for each parameter
Dot = Callable[[Vector, Vector], float]


class LBFGSRule(UpdateRule):
    """The part of `LBFGS` in one parameter: its last steps `s`, and what they did to the gradient.

    `y` has these changes, both as rings of `history_size` arrays, of which `pairs` have been
    filled; `gradient` and `last` are gradient and step of the last update.
    """

    __slots__ = ()

    lr: float = 1.0
    history_size: int = 10
    c1: float = 1e-4
    c2: float = 0.9
    max_eval: int = 25
    ranges = {
        "lr": "(0, inf)",
        "history_size": "[1, inf)",
        "c1": "(0, 1)",
        "c2": "(0, 1)",
        "max_eval": "[1, inf)",
    }

    def check(self, param: Parameter) -> None:
        """Refuse hooks that would change a gradient after the direction has been found."""
        if any(True for _ in self._hooks.at("pre")):
            raise UpdateError(
                f"LBFGS: the rule of the parameter {param.name} has a hook for before its step, "
                "but all parameters step together. Add the hook to the optimizer."
            )

    def init_state(self, param: Parameter) -> None:
        """Zeros, and no pair yet."""
        home, array = param.backend, param.array
        shape = (int(self.history_size), *array.shape)
        for name in ("s", "y"):
            self.state[name] = home.xp.zeros(shape, dtype=array.dtype, device=array.device)
        for name in ("gradient", "last"):
            self.state[name] = home.xp.zeros_like(array)
        self.state["pairs"] = 0

    def pair(self, age: int) -> tuple[Any, Any]:
        """The s and y of `age` pairs ago; zeros where there was none."""
        slot = (int(self.state["pairs"]) - 1 - age) % self.state["s"].shape[0]
        return self.state["s"][slot, ...], self.state["y"][slot, ...]

    def remember(self, s: Any, y: Any) -> None:
        """Store a pair in the place of the oldest."""
        pairs = int(self.state["pairs"])
        slot = pairs % self.state["s"].shape[0]
        for name, value in (("s", s), ("y", y)):
            self.state[name] = backend.of(value).put(self.state[name], (slot, ...), value)
        self.state["pairs"] = pairs + 1

    def forget(self) -> None:
        """Start again, without pairs."""
        for name in ("s", "y", "last"):
            array = self.state[name]
            self.state[name] = backend.of(array).copyto(array, 0.0)
        self.state["pairs"] = 0

    def step(self, xp: Any, param: Any, grad: Any, last: Any, **state: Any) -> None:
        """One step, in place: that which the optimizer has found."""
        param += last


class LBFGS(GradientMethod):
    r"""The quasi-Newton method with limited memory, and a line search, for losses without noise.

    .. math:: \theta \leftarrow \theta + t\, d, \qquad d = -H g

    H is the inverse of the Hessian as the BFGS formula finds it from the last m steps s and the
    changes y of the gradient in them, beginning with :math:`\gamma I`,
    :math:`\gamma = s^T y / y^T y` of the newest; pairs without positive curvature
    :math:`s^T y` are left out. Then t fulfills the strong Wolfe conditions

    .. math::
        f(\theta + t d) \le f(\theta) + c_1 t\, g^T d, \qquad
        |g(\theta + t d)^T d| \le c_2 |g^T d|

    `update(lossfun, ...)` evaluates the loss at :math:`\theta` and then as often as the line search
    wants, which begins with t = lr, at the first step with lr divided by the sum of all
    :math:`|g_i|` if that is more than 1. So the loss must depend on nothing but the parameters:
    give large batches, and leave out dropout. What it reports is that of the first evaluation.
    Without a loss function the step is the one that the search would begin with.

    All parameters step together, so none has hyper-parameters of its own. Hooks that change
    gradients would contradict the loss: with a loss function they are refused. Where no step is
    found, parameters stay where they are and the memory begins anew.

    Args:
        lr: The step to try first.
        history_size: How many pairs are remembered, the m of the paper.
        c1: The share of the slope that the loss has to fall by.
        c2: The share of the slope that may be left.
        max_eval: How often a step may evaluate the loss in its line search.

    Source: Liu and Nocedal 1989, Mathematical Programming 45, algorithm 2.1; the line search is
    that of Nocedal and Wright, "Numerical Optimization" (2nd ed. 2006), algorithms 3.5 and 3.6.

    >>> import core, core.functions as F, numpy as np
    >>> model = core.Link()
    >>> with model.init_scope():
    ...     model.x = core.Parameter(np.array([-1.0, 2.0]))
    >>> optimizer = core.optimizers.LBFGS().setup(model)
    >>> def rosenbrock():
    ...     return (1 - model.x[0]) ** 2 + 100 * (model.x[1] - model.x[0] ** 2) ** 2
    >>> for step in range(50):
    ...     optimizer.update(rosenbrock)
    >>> model.x.array.round(6)
    array([1., 1.])
    """

    rule = LBFGSRule
    _loss: Callable[[], Any] | None = None
    _value: float = math.nan

    def group(self, *patterns: str, **hyperparameters: Any) -> ParameterGroup:
        """A group to add hooks to; hyper-parameters of its own are refused."""
        if hyperparameters:
            raise UpdateError(
                f"LBFGS.group: all parameters step together, and none can have "
                f"{', '.join(hyperparameters)} of its own. Set it on the optimizer."
            )
        return super().group(*patterns)

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Make one step, for which the loss is evaluated several times.

        Raises:
            UpdateError: As other optimizers; and where hooks would change gradients.
        """
        if lossfun is None or not callable(lossfun):
            super().update(lossfun)
            return
        if self._recording() is not None:
            raise TraceError(
                "capture: LBFGS.update(lossfun) evaluates the loss as often as its line search "
                "asks for. Call loss.backward() and update() in the step, for steps without one."
            )
        hooks = ", ".join(getattr(each, "name", repr(each)) for each in self._hooks.at("pre"))
        if hooks:
            raise UpdateError(
                f"LBFGS.update: the line search needs gradients of the loss itself, which {hooks} "
                "may change. Make it a part of the loss function, or remove it."
            )

        def first() -> Any:
            loss = lossfun(*args, **kwds)
            self._value = _number(loss)
            return loss

        self._loss = lambda: lossfun(*args, **kwds)
        try:
            super().update(first)
        finally:
            self._loss = None

    def before_step(self, steps: list[Step]) -> None:
        """Find the step of all parameters together, and pass it to their rules."""
        works = [step.work for step in steps]
        with works[0].backend.beside(works[0].array) if works else nullcontext():
            self._find(steps)

    def _find(self, steps: list[Step]) -> None:
        rules: list[Any] = [step.rule for step in steps]
        grads = [step.work.backend.copy(step.work.grad) for step in steps]
        last = [rule.state["last"] for rule in rules]
        change = [
            backend.of(g).xp.asarray(g - rule.state["gradient"])
            for rule, g in zip(rules, grads, strict=True)
        ]
        dot = self._dot
        new = dot(last, change) > 2.0**-52 * dot(change, change)
        pairs = [*([(last, change)] if new else []), *self._remembered(rules, new)]
        direction = _direction(dot, grads, pairs)
        slope = dot(grads, direction)
        if not slope < 0:  # rounding has spoilt the memory, or there is nothing to gain
            pairs = []
            direction = _direction(dot, grads, pairs)
            slope = dot(grads, direction)
        t = self.lr
        if not pairs:
            t /= max(1.0, dot(grads, [backend.of(g).xp.sign(g) for g in grads]))
        if self._loss is not None and slope < 0:
            t = self._search(steps, direction, slope, t)
        for rule, grad, d, s, y in zip(rules, grads, direction, last, change, strict=True):
            if t == 0:
                rule.forget()
            elif new:
                rule.remember(s, y)
            for name, value in (("last", t * d), ("gradient", grad)):
                kept = rule.state[name]
                rule.state[name] = backend.of(kept).copyto(kept, value)

    def _remembered(self, rules: list[Any], new: bool) -> Iterator[tuple[Vector, Vector]]:
        """The pairs of earlier steps that count beside a new one, the newest first."""
        sizes = self.everywhere([rule.state["s"].shape[0] for rule in rules])
        counts = self.everywhere([int(rule.state["pairs"]) for rule in rules])
        history, known = int(min(sizes, default=0)), int(max(counts, default=0))
        for age in range(min(known, history - new)):
            remembered = [rule.pair(age) for rule in rules]
            yield [s for s, _ in remembered], [y for _, y in remembered]

    def _dot(self, a: Vector, b: Vector) -> float:
        """The inner product over all parameters."""
        products = [float(inner(x, y)) for x, y in zip(a, b, strict=True)]
        return math.fsum(self.everywhere(products))

    def _search(self, steps: list[Step], d: Vector, slope: float, t: float) -> float:
        """How far to go along d; parameters and gradients are afterwards as they were."""
        start = [step.work.backend.copy(step.work.array) for step in steps]
        grads = [(each, each.grad) for step in steps for each in (step.parameter, step.work)]

        def evaluate(t: float) -> tuple[float, float]:
            for step, x, v in zip(steps, start, d, strict=True):
                _place(step, x, t * v)
            with reporter.unobserved():
                loss = self._loss() if self._loss is not None else None
            value = _number(loss)
            self._backward(self._target(), loss)
            again = [Step.of(step.parameter, step.rule) for step in steps]
            moved = [(step, v) for step, v in zip(again, d, strict=True) if step is not None]
            for step, _ in moved:
                step.begin(self._loss_scale)
            return value, self._dot([step.work.grad for step, _ in moved], [v for _, v in moved])

        try:
            return strong_wolfe(
                evaluate, self._value, slope, t, self.c1, self.c2, int(self.max_eval)
            )
        finally:
            for step, x in zip(steps, start, strict=True):
                _place(step, x)
            for each, grad in grads:
                each.grad = grad


def _place(step: Step, start: Any, change: Any = None) -> None:
    """Put a parameter, in the midst of its step, at `start`, or at a change from there."""
    work = step.work
    work.array = work.backend.copyto(work.array, start)
    if change is not None:
        work.array += change
    step.write()


def _direction(dot: Dot, grads: Vector, pairs: list[tuple[Vector, Vector]]) -> Vector:
    """-H g by the two loops of the paper, over pairs of which the newest is the first."""
    q = [backend.of(g).copy(g) for g in grads]
    loop: list[tuple[Vector, Vector, float, float]] = []
    scale = 1.0
    for s, y in pairs:
        curvature = dot(s, y)
        if not curvature > 0:  # nothing was remembered, or not of these parameters
            continue
        if not loop:
            scale = curvature / dot(y, y)
        share = dot(s, q) / curvature
        _add(q, -share, y)
        loop.append((s, y, curvature, share))
    for each in q:
        each *= scale
    for s, y, curvature, share in reversed(loop):
        _add(q, share - dot(y, q) / curvature, s)
    for each in q:
        each *= -1.0
    return q


def _add(a: Vector, factor: float, b: Vector) -> None:
    """Add a multiple of b to a, in place."""
    for x, y in zip(a, b, strict=True):
        x += factor * y


def _number(loss: Any) -> float:
    """The loss as a number; what is none is refused later, by name."""
    single = isinstance(loss, Variable) and loss.size == 1
    return float(backend.to_host(loss.array).reshape(())) if single else math.nan
