"""A step of an optimizer that is made again and again, for the same parameters and nothing beside.

`GradientMethod.update` finds out about each parameter in each step: whether its gradient fits, what
its rule keeps and where, which rules are alike. What it found is kept here, and looked at before
the next step: where something is not as it was, that one is made by `update` itself. Numbers such
as rates are read anew. So captured steps update with the bits of others, in a fraction of the time.

A kernel for all parameters may have an attribute `prepared`: of `(params, states)` it gives
`call(rule, grads)`, which does what the kernel does for parameters of these shapes and dtypes, or
None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from core.arrays.backend import Backend, host
from core.arrays.spec import spec_of
from core.optimizer.gradient_method import GradientMethod
from core.optimizer.update_rule import UpdateRule

_OF_OPTIMIZERS = (
    "update", "_make", "_steps_of", "before_step", "call_hooks", "call_hook", "working",
    "is_safe_to_update", "update_loss_scale",
)  # fmt: skip
_OF_RULES = ("_run", "_count", "_prepare", "_work_on", "_run_step", "update", "check")
_FLOATS = ("float32", "float64")  # 16 bits have masters


class _Member(NamedTuple):
    """A parameter with its rule, and all that is to be as it was."""

    parameter: Any
    array: Any
    rule: Any
    hyperparam: Any
    own: dict[str, Any]  # numbers of this rule alone
    state: dict[str, Any]
    kept: list[int]  # the arrays of the state, by identity


class _Launch(NamedTuple):
    """Members whose steps one call makes."""

    rules: list[Any]
    parameters: list[Any]
    call: Callable[[Any, list[Any]], None]


class PreparedStep:
    """What `optimizer.update()` does, where it would find what it found in the last step.

    >>> import core, core.links as L, numpy as np
    >>> from core.optimizer.prepared import PreparedStep
    >>> link = L.Linear(1, 1, initialW=0.0)
    >>> optimizer = core.optimizers.SGD(lr=0.5).setup(link)
    >>> link.W.grad = np.ones((1, 1), "f")
    >>> optimizer.update()
    >>> prepared = PreparedStep.of(optimizer)
    >>> prepared.made(), link.W.array.item(), optimizer.t
    (True, -1.0, 2)
    >>> link.W.update_rule.enabled = False
    >>> prepared.made(), link.W.array.item(), optimizer.t
    (False, -1.0, 2)
    """

    def __init__(self, optimizer: Any, members: list[_Member], passed: list[Any]) -> None:
        self._optimizer = optimizer
        self._members = members
        self._passed = passed  # parameters and their rules, which are not enabled
        self._alone: list[tuple[Any, Any, Callable[[Any], None]]] = []
        self._launches: list[_Launch] = []
        self._group()

    @classmethod
    def of(cls, optimizer: Any) -> Self | None:
        """The next step of an optimizer that has made one; None where there is more to be done.

        That is so with hooks, a loss scale, 16-bit parameters, and what is overridden.
        """
        kind = type(optimizer)
        if optimizer._hooks or optimizer._loss_scale is not None:
            return None
        if any(
            [getattr(kind, name) is not getattr(GradientMethod, name) for name in _OF_OPTIMIZERS]
        ):
            return None
        members, passed = [], []
        for parameter in optimizer.target.params(False):
            rule, grad = parameter.update_rule, parameter.grad
            if rule is None or not rule.enabled:
                if rule is None and grad is not None:
                    return None
                passed.append((parameter, rule))
            elif grad is not None:
                if not _is_plain(parameter, rule, grad):
                    return None
                numbers, state = rule.hyperparam, rule._state
                kept = [*map(id, state.values())]
                own = dict(numbers.__dict__)
                members.append(
                    _Member(parameter, parameter._array, rule, numbers, own, state, kept)
                )
        return cls(optimizer, members, passed) if members else None

    def _group(self) -> None:
        """Find what is made by one call."""
        backend = host()
        together: dict[Any, list[_Member]] = {}
        for member in self._members:
            rule = member.rule
            kernel = backend.update_all_kernels.get(type(rule)) if rule.follows_step else None
            if kernel is None:
                run = rule._run_step if rule.follows_step else rule.update_core
                self._alone.append((rule, member.parameter, run))
            else:
                alike = kernel, type(rule), rule.t, member.hyperparam.key()
                together.setdefault(alike, []).append(member)
        for (kernel, *_), members in together.items():
            rules = [member.rule for member in members]
            parameters = [member.parameter for member in members]
            arrays, states = [m.array for m in members], [m.state for m in members]
            prepared = getattr(kernel, "prepared", None)
            call = prepared(arrays, states) if prepared is not None else None
            if call is None:
                call = _launching(kernel, backend, rules, parameters, arrays, states)
            self._launches.append(_Launch(rules, parameters, call))

    def made(self) -> bool:
        """Make the step, if all is as it was, and say whether that was so."""
        if not self._holds():
            return False
        optimizer = self._optimizer
        optimizer._parts = 0
        optimizer.t += 1
        for rule, parameter, run in self._alone:
            rule._count()
            run(parameter)
            parameter.version += 1
        for rules, parameters, call in self._launches:
            for rule in rules:
                rule._count()
            call(rules[0], [parameter.grad for parameter in parameters])
            for parameter in parameters:
                parameter.version += 1
        return True

    def _holds(self) -> bool:
        optimizer = self._optimizer
        if optimizer._hooks or optimizer._loss_scale is not None:
            return False
        for p, array, rule, numbers, own, state, kept in self._members:
            if (
                p._array is not array
                or not array.flags.writeable
                or p.update_rule is not rule
                or not rule.enabled
                or rule._hooks
                or rule._state is not state
                or [*map(id, state.values())] != kept
                or rule.hyperparam is not numbers
                or numbers.__dict__ != own
            ):
                return False
        for rules, _, _ in self._launches:
            t = rules[0].t
            for rule in rules:
                if rule.t != t:
                    return False
        for p, rule in self._passed:
            if p.update_rule is not rule or (rule is not None and rule.enabled):
                return False
        return True


def _is_plain(parameter: Any, rule: Any, grad: Any) -> bool:
    """Whether the step of a parameter is no more than that of its rule."""
    spec = parameter._spec
    return (
        spec.backend is host()
        and spec.dtype.name in _FLOATS
        and spec_of(grad) is spec
        and not parameter._frozen
        and not rule._hooks
        and type(rule._state) is dict
        and _has_all_of(type(rule), UpdateRule, _OF_RULES)
    )


def _has_all_of(kind: type, base: type, names: tuple[str, ...]) -> bool:
    """Whether a class has these methods of its base, and not others in their place."""
    return all([getattr(kind, name) is getattr(base, name) for name in names])


def _launching(
    kernel: Any, backend: Backend, rules: Any, parameters: Any, arrays: Any, states: Any
) -> Callable[[Any, list[Any]], None]:
    """The call of a kernel that is not prepared for these parameters."""

    def call(rule: Any, grads: list[Any]) -> None:
        for i in kernel(rule, backend.xp, arrays, grads, states) or ():
            rules[i].update_core(parameters[i])

    return call
