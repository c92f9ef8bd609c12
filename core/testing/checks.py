"""The checks of an op, one function each, by the names that `Domain(leave_out=...)` uses.

Each takes a Trial and raises AssertionError; `CHECKS` maps the names to them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from core.arrays.backend import get as get_backend
from core.errors import GraphError
from core.graph.backprop import grad
from core.graph.variable import Variable
from core.testing import gradient_check
from core.testing.replay import traced
from core.testing.retention import retention
from core.testing.tolerances import DOUBLE_GRADIENT, GRADIENT, NARROW_GRADIENT, assert_near
from core.testing.trial import Trial

Check = Callable[[Trial], None]


def forward(trial: Trial) -> None:
    """The outputs are what an independent reference computes in float64."""
    dtype = trial.dtypes()[0]
    _compare_with_reference(trial, dtype, trial.outputs(dtype))


def _compare_with_reference(trial: Trial, dtype: str, outputs: list[Any]) -> None:
    expected = trial.referred(dtype)
    if expected is None:
        return
    if len(expected) != len(outputs):
        raise AssertionError(f"expected {len(expected)} outputs, got {len(outputs)}")
    for i, (y, e) in enumerate(zip(outputs, expected, strict=True)):
        if y is None:
            continue
        name = trial.name(y)
        kinds = trial.backend.kind(y.dtype), e.dtype.kind
        if (kinds[0] in "iu", kinds[0] == "b") != (kinds[1] in "iu", kinds[1] == "b"):
            raise AssertionError(f"output {i}: expected a dtype of kind {kinds[1]!r}, got {name}")
        if kinds[1] == "f":
            with np.errstate(over="ignore"):  # beyond the range of a narrow dtype is infinity
                e = e.astype(name)
        assert_near(trial.host(y), e, trial.allowed(name), f"output {i} in {name}")


def gradient(trial: Trial) -> None:
    """Gradients are those of central differences in float64, for each input alone and together.

    An input without a rule changes nothing. On kinks and ends of ranges gradients are numbers.
    """
    if not _has_gradient(trial, "gradient"):
        return
    if trial.case.kind == "edges":
        _refuse_no_numbers(trial)
        return
    _refuse_forgotten_rules(trial)
    # Along one direction, here and below: of each op many cases are drawn.
    for needs_grad in _subsets(trial.differentiable):
        function, arrays, cotangents = _as_function(trial, needs_grad)
        if cotangents is None:
            return
        precise = _is_precise(trial, cotangents)
        allowed = GRADIENT if precise else NARROW_GRADIENT
        gradient_check.check_backward(
            function,
            tuple(arrays),
            cotangents,
            eps=_EPS,
            atol=allowed.absolute,
            rtol=allowed.relative,
            detect_nondifferentiable=precise,
            directions=1,
        )


_EPS = 1e-3


def _refuse_no_numbers(trial: Trial) -> None:
    """Refuse NaN among the gradients of outputs that are finite."""
    for dtype in trial.dtypes():
        outputs, gradients = trial.run_with_gradients(dtype)
        found = [_wide(trial, y) for y in outputs if y is not None]
        if all([np.isfinite(y).all() for y in found]):
            for i, g in enumerate(gradients):
                if g is not None and np.isnan(_wide(trial, g)).any():
                    name = _differentiable_name(trial, i)
                    raise AssertionError(
                        f"gradient of {name} in {dtype}: expected a number where the output is "
                        "one, as on kinks and at the ends of ranges, got NaN"
                    )


def _wide(trial: Trial, array: Any) -> Any:
    host = trial.host(array)
    return host if host.dtype.kind == "c" else host.astype("float64")


def _refuse_forgotten_rules(trial: Trial) -> None:
    """Refuse an input without a gradient rule by which finite differences change an output."""
    for i, declared in enumerate(trial.case.inputs):
        name = trial.case.names[i]
        rule = f"gradient_{name}"
        if not declared.real or i in trial.differentiable or rule in trial.domain.leave_out:
            continue
        array = trial.case.arrays("float64")[i]
        step = _EPS * np.random.default_rng(trial.case.seed + 3).normal(size=array.shape)
        ends = []
        for moved in (array + step, array - step):
            inputs = trial.arrays("float64")
            inputs[i] = trial.backend.asarray(np.asarray(moved))
            ends.append([_wide(trial, y.array) for y in trial.run(inputs)])
        slope = max([np.abs(a - b).max(initial=0) for a, b in zip(*ends, strict=True)]) / _EPS
        if slope > GRADIENT.relative:
            raise AssertionError(
                f"{trial.op.__name__} has no gradient rule for {name}, with which its output "
                f"changes. Write {rule}, or say why there is none: "
                f"Domain(leave_out={{{rule!r}: 'not differentiable'}})."
            )


def _is_precise(trial: Trial, cotangents: tuple[Any, ...]) -> bool:
    """Whether the outputs of float64 inputs are float64: not those of a cast."""
    return all(g is None or trial.name(g) == "float64" for g in cotangents)


def double_gradient(trial: Trial) -> None:
    """The gradients' own gradients, by the same check applied to the gradient."""
    if "gradient" in trial.domain.leave_out or not _has_gradient(trial, "double_gradient"):
        return
    function, arrays, cotangents = _as_function(trial, trial.differentiable)
    if cotangents is None:
        return
    generator = np.random.default_rng(trial.case.seed + 2)
    seeds = tuple(trial.backend.asarray(generator.normal(size=a.shape)) for a in arrays)
    precise = _is_precise(trial, cotangents)
    allowed = DOUBLE_GRADIENT if precise else NARROW_GRADIENT
    gradient_check.check_double_backward(
        *_with_cotangents_only(function, arrays, cotangents),
        seeds,
        eps=_EPS,
        atol=allowed.absolute,
        rtol=allowed.relative,
        detect_nondifferentiable=precise,
        directions=1,
    )


def refuses_second_derivative(trial: Trial) -> None:
    """An op that says it has no second derivative raises when asked for one."""
    inputs = trial.variables(trial.arrays(trial.dtypes()[0]))
    outputs = trial.run(inputs)
    cotangents = trial.cotangents(outputs)
    pairs = [(y, Variable(g)) for y, g in zip(outputs, cotangents, strict=True) if g is not None]
    targets = [x for x in inputs if x.requires_grad]
    try:
        first = grad(
            [y for y, _ in pairs], targets, [g for _, g in pairs], enable_double_backprop=True
        )
        grad([g for g in first if g is not None], targets)
    except GraphError:
        return
    raise AssertionError(
        "the domain says 'not differentiable' of double_gradient, yet a second derivative came"
    )


def _with_cotangents_only(
    function: Any, arrays: list[Any], cotangents: tuple[Any, ...]
) -> tuple[Any, Any, Any]:
    """`function` without the outputs that have no cotangent."""
    kept = [i for i, g in enumerate(cotangents) if g is not None]

    def reduced(*xs: Any) -> Any:
        ys = function(*xs)
        return tuple(ys[i] for i in kept)

    return reduced, tuple(arrays), tuple(cotangents[i] for i in kept)


def _as_function(trial: Trial, needs_grad: tuple[int, ...]) -> tuple[Any, list[Any], Any]:
    """The op as a function, in float64, of the inputs `needs_grad`, and cotangents or None."""
    arrays = trial.arrays("float64")

    def function(*xs: Any) -> tuple[Any, ...]:
        given: list[Any] = [Variable(a, requires_grad=False) for a in arrays]
        for i, x in zip(needs_grad, xs, strict=True):
            given[i] = x
        return trial.run(given)

    outputs = trial.run(trial.variables(arrays, needs_grad))
    cotangents = tuple(
        g if y.requires_grad else None
        for y, g in zip(outputs, trial.cotangents(outputs), strict=True)
    )
    reached = any(g is not None for g in cotangents)
    return function, [arrays[i] for i in needs_grad], cotangents if reached else None


def _has_gradient(trial: Trial, check: str) -> bool:
    if trial.differentiable:
        return True
    raise AssertionError(
        f"{trial.op.__name__} has no gradient rule for any input. Write one, or say why there is "
        f"none: Domain(leave_out={{'gradient': 'not differentiable'}}); this check is {check!r}."
    )


def _subsets(indexes: tuple[int, ...]) -> list[tuple[int, ...]]:
    alone = [(i,) for i in indexes] if len(indexes) > 1 else []
    return [indexes, *alone]


def dtypes(trial: Trial) -> None:
    """Every floating dtype is kept, by outputs and gradients, at that dtype's precision."""
    if not any(declared.real for declared in trial.case.inputs):
        return
    widest, *others = trial.dtypes()
    for dtype in (widest, *others):
        _check_outputs_kept(trial, dtype, trial.outputs(widest), trial.outputs(dtype))
    outputs, gradients = trial.run_with_gradients(widest)
    _check_gradients_kept(trial, widest, gradients)
    for dtype in others:
        narrow_outputs, narrow_gradients = trial.run_with_gradients(dtype)
        _check_gradients_kept(trial, dtype, narrow_gradients)
        _compare_with_reference(trial, dtype, narrow_outputs)
        if trial.case.kind == "edges" or trial.draws_its_own:
            continue  # on a kink rounding may choose the side
        for i, (g, wide) in enumerate(zip(narrow_gradients, gradients, strict=True)):
            _check_presence(i, g, wide)
            if g is not None and not _rounds(trial):
                what = f"gradient of {_differentiable_name(trial, i)} in {dtype}"
                with np.errstate(over="ignore"):
                    expected = trial.host(wide).astype(dtype)
                assert_near(trial.host(g), expected, trial.allowed(dtype), what)


def _rounds(trial: Trial) -> bool:
    """Whether `make` drew inputs that narrow dtypes round, so that gradients may differ."""
    return any(declared.make is not None for declared in trial.case.inputs)


def _check_presence(i: int, one: Any, other: Any) -> None:
    if (one is None) != (other is None):
        raise AssertionError(f"gradient {i} is None in one dtype and an array in another")


def _check_outputs_kept(trial: Trial, dtype: str, reference: list[Any], outputs: list[Any]) -> None:
    asked = {str(value) for value in trial.case.settings.values()}
    for i, (y, wide) in enumerate(zip(outputs, reference, strict=True)):
        if y is None:
            continue
        found, was = trial.name(y), trial.name(wide)
        expected = was if not was.startswith("float") or was in asked else dtype
        if found != expected:
            raise AssertionError(f"output {i}: expected {expected} for {dtype} inputs, got {found}")


def _check_gradients_kept(trial: Trial, dtype: str, gradients: list[Any]) -> None:
    for i, g in enumerate(gradients):
        if g is not None and trial.name(g) != dtype:
            name = _differentiable_name(trial, i)
            raise AssertionError(f"gradient of {name}: expected {dtype}, got {trial.name(g)}")


def _differentiable_name(trial: Trial, i: int) -> str:
    return trial.case.names[trial.differentiable[i]]


def layouts(trial: Trial) -> None:
    """Strided, transposed and reversed inputs give what contiguous ones give."""
    dtype = trial.dtypes()[0]
    expected = trial.outputs(dtype)
    _, gradients = trial.run_with_gradients(dtype)
    for layout in (_strided, _transposed, _reversed):
        arrays = [layout(trial.backend.xp, a) for a in trial.arrays(dtype)]
        inputs = trial.variables(arrays)
        outputs = trial.run(inputs)
        for i, (y, e) in enumerate(zip(outputs, expected, strict=True)):
            if e is not None:
                what = f"output {i} of{layout.__name__.replace('_', ' ')} inputs"
                assert_near(trial.host(y.array), trial.host(e), trial.allowed(trial.name(e)), what)
        _compare_layout_gradients(trial, layout, inputs, outputs, gradients)


def _compare_layout_gradients(
    trial: Trial, layout: Any, inputs: list[Any], outputs: tuple[Any, ...], expected: list[Any]
) -> None:
    dtype = trial.dtypes()[0]
    cotangents = [
        None if g is None else layout(trial.backend.xp, g) for g in trial.cotangents(outputs)
    ]
    actual = trial.gradients(inputs, outputs, cotangents)
    for i, (g, e) in enumerate(zip(actual, expected, strict=True)):
        _check_presence(i, g, e)
        if g is not None:
            what = f"gradient {i} of{layout.__name__.replace('_', ' ')} inputs"
            assert_near(trial.host(g), trial.host(e), trial.allowed(dtype), what)


def _strided(xp: Any, array: Any) -> Any:
    if array.ndim == 0:
        return array
    doubled = xp.stack([array, array], axis=-1)
    return xp.reshape(doubled, (*array.shape[:-1], 2 * array.shape[-1]))[..., ::2]


def _transposed(xp: Any, array: Any) -> Any:
    order = tuple(range(array.ndim))[::-1]
    flat = xp.reshape(xp.permute_dims(array, order), (-1,))  # laid out anew, last axis first
    return xp.permute_dims(xp.reshape(flat, array.shape[::-1]), order)


def _reversed(xp: Any, array: Any) -> Any:
    if array.ndim == 0:
        return array
    flipped = xp.concat([xp.flip(array, axis=-1)], axis=-1)
    try:
        return flipped[..., ::-1]
    except ValueError:  # a library whose arrays never lie backwards
        return array


def empty(trial: Trial) -> None:
    """Inputs without elements give results of the right shape; run on cases of kind 'empty'."""
    if trial.case.kind != "empty":
        return
    dtype = trial.dtypes()[0]
    outputs, gradients = trial.run_with_gradients(dtype)
    _compare_with_reference(trial, dtype, outputs)
    for i, g in zip(trial.differentiable, gradients, strict=True):
        shape = trial.case.values[i].shape
        if g is not None and g.shape != shape:
            raise AssertionError(f"gradient {i}: expected shape {shape}, got {g.shape}")


def mutation(trial: Trial) -> None:
    """Neither forward nor backward writes into an input, an output or a gradient it was given."""
    for dtype in {trial.dtypes()[0], trial.dtypes()[-1]}:  # 16-bit floats may be widened first
        _check_mutation(trial, dtype)


def _check_mutation(trial: Trial, dtype: str) -> None:
    arrays = trial.arrays(dtype)
    watched = [(f"input {n}", a) for n, a in zip(trial.case.names, arrays, strict=True)]
    before = [trial.host(a).copy() for a in arrays]
    inputs = trial.variables(arrays)
    outputs = trial.run(inputs)
    _refuse_changes(trial, watched, before, "the forward")
    cotangents = trial.cotangents(outputs)
    watched += [(f"output {i}", y.array) for i, y in enumerate(outputs) if y.array is not None]
    watched += [(f"cotangent {i}", g) for i, g in enumerate(cotangents) if g is not None]
    before = [trial.host(a).copy() for _, a in watched]
    trial.gradients(inputs, outputs, cotangents)
    _refuse_changes(trial, watched, before, "the backward")


def _refuse_changes(
    trial: Trial, watched: list[tuple[str, Any]], before: list[Any], who: str
) -> None:
    for (name, array), old in zip(watched, before, strict=True):
        if not np.array_equal(trial.host(array), old, equal_nan=old.dtype.kind in "fc"):
            raise AssertionError(f"{who} wrote into {name}")


def kernels(trial: Trial) -> None:
    """A backend's kernels compute what the formulas that they replace compute, of few as of many.

    Also where they say by `least` that few elements are left to the formula, which costs as little.
    """
    op = trial.op
    tables = [t for t in (trial.backend.kernels, trial.backend.gradient_kernels) if op in t]
    if not tables:
        return
    own = [table[op] for table in tables]
    with_kernels = []
    both = any([hasattr(kernel, "ready") for kernel in own])
    for ready in (True, False) if both else (True,):
        try:
            for table, kernel in zip(tables, own, strict=True):
                table[op] = _asked_of_few(kernel, ready)
            with_kernels.append([trial.run_with_gradients(dtype) for dtype in trial.dtypes()])
        finally:
            for table, kernel in zip(tables, own, strict=True):
                table[op] = kernel
    for table in tables:
        kernel = table.pop(op)
        try:
            without = [trial.run_with_gradients(dtype) for dtype in trial.dtypes()]
        finally:
            table[op] = kernel
        for runs in with_kernels:
            for dtype, one, other in zip(trial.dtypes(), runs, without, strict=True):
                _compare_runs(trial, one, other, f"with the kernel, in {dtype}")


def _asked_of_few(kernel: Any, ready: bool) -> Any:
    """The kernel, of any number of elements; without the form that is ready for some spec."""
    if not getattr(kernel, "least", 0) and (ready or not hasattr(kernel, "ready")):
        return kernel

    @wraps(kernel)
    def asked(*args: Any) -> Any:
        return kernel(*args)

    asked.least = 0  # type: ignore[attr-defined]
    if not ready:
        vars(asked).pop("ready", None)
    return asked


def other_backends(trial: Trial) -> None:
    """The backend gives what NumPy gives, unless it gives random numbers of its own."""
    host = get_backend("numpy")
    if trial.backend is host or trial.draws_its_own:
        return
    other = Trial(trial.case, host, trial.reference, trial.kind)
    for dtype in trial.dtypes():
        outputs, gradients = other.run_with_gradients(dtype)
        found = trial.run_with_gradients(dtype)
        here = ([_moved(trial, y) for y in outputs], [_moved(trial, g) for g in gradients])
        _compare_runs(trial, found, here, f"against NumPy, in {dtype}")


def _moved(trial: Trial, array: Any) -> Any:
    return None if array is None else trial.backend.asarray(array)


def _compare_runs(
    trial: Trial, one: tuple[list[Any], list[Any]], other: tuple[list[Any], list[Any]], what: str
) -> None:
    for part, actual, expected in zip(("output", "gradient"), one, other, strict=True):
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _check_presence(i, a, e)
            if a is None:
                continue
            if trial.name(a) != trial.name(e):
                raise AssertionError(f"{part} {i} {what}: {trial.name(a)}, not {trial.name(e)}")
            allowed = trial.allowed(trial.name(e))
            assert_near(trial.host(a), trial.host(e), allowed, f"{part} {i} {what}")


def repeat(trial: Trial) -> None:
    """The same call twice, and the same backward twice, give the same bits, by `apply` as well."""
    for dtype in trial.dtypes():
        _repeat(trial, dtype)


def _repeat(trial: Trial, dtype: str) -> None:
    inputs = trial.variables(trial.arrays(dtype))
    outputs = trial.run(inputs)
    cotangents = trial.cotangents(outputs)
    first = trial.gradients(inputs, outputs, cotangents)
    second = trial.gradients(inputs, outputs, cotangents)
    _same(trial, first, second, "gradient of a second backward")
    again = trial.apply(trial.variables(trial.arrays(dtype)))
    _same(trial, [y.array for y in outputs], [y.array for y in again], "output of a second run")


def _same(trial: Trial, one: list[Any], other: list[Any], what: str) -> None:
    for i, (a, b) in enumerate(zip(one, other, strict=True)):
        _check_presence(i, a, b)
        if a is not None and trial.host(a).tobytes() != trial.host(b).tobytes():
            raise AssertionError(f"{what}: number {i} differs")


CHECKS: dict[str, Check] = {
    "forward": forward,
    "gradient": gradient,
    "double_gradient": double_gradient,
    "dtypes": dtypes,
    "layouts": layouts,
    "empty": empty,
    "mutation": mutation,
    "retention": retention,
    "kernels": kernels,
    "backends": other_backends,
    "repeat": repeat,
    "traced": traced,
}

ON_EDGES = ("forward", "gradient", "dtypes", "layouts", "mutation", "kernels", "backends", "repeat")
"""The checks that make sense on kinks and at the ends of ranges."""

ON_EMPTY = ("empty", "dtypes", "mutation", "backends")
"""The checks that make sense without elements."""
