"""Steps that are made together: one call of a backend's kernel for all parameters alike.

Hooks of rules after their steps are called when all parameters have changed: where one raises, none
is left behind.

A kernel in the section `update_all` is called as `kernel(rule, xp, params, grads, states)`. Each of
the lists has an entry per parameter: its array, its gradient, and the mapping of the rule's state.
They are of one device; all their rules have the class, the hyper-parameters and the count `t` of
`rule`, which already counts the step. The kernel changes arrays and state in place, checks them
before it changes the first, and gives the positions of parameters that it leaves to the rule
itself, or None for none. Where arrays never change, it puts others into `params` and the states; a
library that compiles functions (`Backend.stage`) gets one of all steps without a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from core.arrays.backend import Backend
from core.optimizer import staged
from core.optimizer.step import Step

Kernel = Callable[..., Any]


def make(steps: Iterable[Step]) -> None:
    """Make all steps that are due: those alike together, where there is a kernel for them."""
    launches: dict[tuple[Any, ...], list[Step]] = {}  # by what they have in common
    hooked: list[Step] = []
    try:
        for step in steps:
            if not step.due:
                step.leave()
                continue
            rule, kernel = step.rule, None
            spec: Any = step.work._spec
            backend = spec.backend
            if rule.follows_step and not rule._hooks:
                kernel = backend.update_all_kernels.get(type(rule))
                if kernel is None and not backend.mutable and backend.stage is not None:
                    kernel = staged.update_all
            if kernel is None:
                rule._run(step.work)
                if rule._hooks.post:
                    hooked.append(step)
                else:
                    step.finish()
                continue
            alike = kernel, backend, spec.device, type(rule), rule.t, rule.hyperparam.key()
            launches.setdefault(alike, []).append(step)
        for (kernel, backend, *_), members in launches.items():
            _launch(kernel, backend, members)
    finally:  # those that have been made are finished, though a rule raises for another
        if hooked:
            with ExitStack() as after:  # which calls the others where one raises
                for step in reversed(hooked):
                    after.callback(step.call_hooks_after)


def _launch(kernel: Kernel, backend: Backend, steps: list[Step]) -> None:
    works = [step.work for step in steps]
    arrays = [work.array for work in works]
    states = [step.rule._state or {} for step in steps]
    for step in steps:
        step.rule._count()
    with backend.entered(backend.device_of(arrays[0])):
        left = kernel(steps[0].rule, backend.xp, arrays, [work.grad for work in works], states)
        if not backend.mutable:
            for work, array in zip(works, arrays, strict=True):
                work.array = array
        for i in left or ():
            steps[i].rule.update_core(works[i])
    for step in steps:
        step.finish()
