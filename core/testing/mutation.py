"""Mutants: an op with one fault put in, which the op's own check has to find.

A check that lets a mutant live proves nothing about the op. Each mutant is a subclass under another
name, so that no kernel stands in for its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

from core.arrays.backend import BACKENDS
from core.errors.arguments import signature_of
from core.testing.strategies import domain_of

Function = Callable[..., Any]


class Mutant(NamedTuple):
    """A faulty op class, what is wrong with it, and the check that must find it."""

    fault: str
    op: Any
    check: str


def mutants(op: Any) -> Iterator[Mutant]:
    """The mutants of a declared op whose checks its domain does not leave out.

    A forward that is off by 0.001, each gradient 1.01 times too large, an output in another dtype,
    a written-to input, each retained array not retained, and an input retained by mistake.
    """
    left_out = domain_of(op).leave_out
    for mutant in _all(op):
        if mutant.check not in left_out:
            yield mutant


def _all(op: Any) -> Iterator[Mutant]:
    if op.declared is None:
        yield from _general(op)
        return
    yield Mutant("forward + 0.001", _with_compute(op, _shifted), "forward")
    yield Mutant("another dtype", _with_compute(op, _recast), "forward")
    yield Mutant("a written-to input", _with_compute(op, _writing), "mutation")
    if op.declared.differentiable:
        yield Mutant("an input kept", _with_compute(op, _keeping), "retention")
        yield from _gradient_mutants(op)


def _general(op: Any) -> Iterator[Mutant]:
    """Mutants of an op in the general form, which says what it retains as it goes."""
    yield Mutant("forward + 0.001", _with_forward(op, _shifted), "forward")
    yield Mutant("another dtype", _with_forward(op, _recast), "forward")
    yield Mutant("a written-to input", _with_forward(op, _writing), "mutation")
    yield Mutant("backward x 1.01", _with_backward(op), "gradient")


def _gradient_mutants(op: Any) -> Iterator[Mutant]:
    for name, rule in _rules(op).items():
        count = len(op.declared.names) if name == "gradient" and not op.declared.variadic else 1
        for i in range(count):
            yield Mutant(
                f"{name} of input {i} x 1.01" if count > 1 else f"{name} x 1.01",
                _subclass(op, {name: _scaled(rule, i)}),
                "gradient",
            )
        for lost in _retained(rule):
            yield Mutant(
                f"{name} without {lost}", _subclass(op, {name: _without(rule, lost)}), "gradient"
            )


def _rules(op: Any) -> dict[str, Function]:
    if op.declared.joint:
        return {"gradient": op.gradient}
    return {f"gradient_{name}": rule for name, rule in op.declared.rules.items()}


def _retained(rule: Function) -> list[str]:
    return [name for name in list(signature_of(rule).parameters)[3:] if name != "needs_grad"]


def _subclass(op: Any, methods: dict[str, Any]) -> Any:
    space = {"__module__": op.__module__, "__qualname__": f"Mutant{op.__qualname__}", **methods}
    return type(f"Mutant{op.__name__}", (op,), space)


# -- faults of the forward -------------------------------------------------------------------------


def _with_compute(op: Any, fault: Callable[[Any, Any, Any, tuple[Any, ...]], Any]) -> Any:
    original = op.compute

    @wraps(original)
    def compute(self: Any, xp: Any, *inputs: Any) -> Any:
        return fault(self, xp, original(self, xp, *inputs), inputs)

    return _subclass(op, {"compute": compute})


def _with_forward(op: Any, fault: Callable[[Any, Any, Any, tuple[Any, ...]], Any]) -> Any:
    original = op.forward

    def forward(self: Any, inputs: tuple[Any, ...]) -> Any:
        xp = BACKENDS[type(inputs[0])].xp
        return fault(self, xp, original(self, inputs), inputs)

    return _subclass(op, {"forward": forward})


def _with_backward(op: Any) -> Any:
    original = op.backward

    def backward(self: Any, indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        found = original(self, indexes, grad_outputs)
        return tuple(g if g is None else g * 1.01 for g in found)

    return _subclass(op, {"backward": backward})


def _shifted(self: Any, xp: Any, result: Any, inputs: tuple[Any, ...]) -> Any:
    def shift(y: Any) -> Any:
        kind = BACKENDS[type(y)].kind(y.dtype)
        return xp.logical_not(y) if kind == "b" else y + 1 if kind in "iu" else y + 1e-3

    return _first(result, shift)


def _recast(self: Any, xp: Any, result: Any, inputs: tuple[Any, ...]) -> Any:
    """Floats to another precision, others to floats: what no declaration allows."""

    def recast(y: Any) -> Any:
        name = BACKENDS[type(y)].dtype_name(y.dtype)
        return xp.astype(y, xp.float32 if name == "float64" else xp.float64)

    return _first(result, recast)


def _writing(self: Any, xp: Any, result: Any, inputs: tuple[Any, ...]) -> Any:
    """The result is right; the first input is not what it was."""
    result = _first(result, lambda y: xp.asarray(y, copy=True))
    x = inputs[0]
    x[...] = xp.logical_not(x) if BACKENDS[type(x)].kind(x.dtype) == "b" else x + 1
    return result


def _keeping(self: Any, xp: Any, result: Any, inputs: tuple[Any, ...]) -> Any:
    self.kept_by_mistake = inputs[0]
    return result


def _first(result: Any, change: Callable[[Any], Any]) -> Any:
    """The result, or the first of several, changed."""
    if isinstance(result, tuple):
        return (change(result[0]), *result[1:])
    return change(result)


# -- faults of the gradient ------------------------------------------------------------------------


def _scaled(rule: Function, index: int) -> Function:
    @wraps(rule)
    def scaled(self: Any, xp: Any, g: Any, *args: Any) -> Any:
        found = rule(self, xp, g, *args)
        if not isinstance(found, tuple):
            return None if found is None else found * 1.01
        return tuple(h * 1.01 if i == index and h is not None else h for i, h in enumerate(found))

    return scaled


def _without(rule: Function, lost: str) -> Function:
    """The rule in a class that does not retain `lost`: it finds nothing where the array was."""
    signature = signature_of(rule)
    kept = [p for p in signature.parameters.values() if p.name != lost]

    def crippled(self: Any, xp: Any, g: Any, *args: Any) -> Any:
        given = dict(zip([p.name for p in kept[3:]], args, strict=True))
        return rule(self, xp, g, **given, **{lost: None})

    crippled.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return crippled
