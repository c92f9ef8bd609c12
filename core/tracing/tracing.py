"""`core.trace`: the array operations of a call, recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.arrays.backend import BACKENDS, Backend, Device, current, host, using
from core.errors import TraceError
from core.graph.variable import Variable, wrap
from core.link import Link
from core.link.parameter import Parameter
from core.programs import (
    PLAIN,
    Leaf,
    Program,
    Value,
    flattened,
    leaves,
    optimized,
    rebuilt,
    value_like,
)
from core.registry.configuration import using_config
from core.tracing.array import TracedArray, traced
from core.tracing.backend import tracing_backend
from core.tracing.places import Places, value_of
from core.tracing.reachable import roots
from core.tracing.tape import Applied, Tape, refuse_nesting


def trace(function: Callable[..., Any], *arrays: Any, kernels: bool = False) -> Program:
    """Record the array operations that `function(*arrays)` makes, as a program.

    The function runs once, on arrays that have a shape, a dtype and no elements; what it does to
    arrays is recorded: forward, gradients (`core.grad`, `backward`) and updates of parameters. Then
    all is as it was before.

    Args:
        function: Takes arrays or Variables, or tuples, lists and dicts of them, and returns such.
            It may be a link.
        arrays: Arguments like those that the program is to run on; of their elements nothing is
            read.
        kernels: Record the kernels that eager would call, one equation each, so that the program
            has eager's bits where a kernel has others than its formula. Else formulas alone.

    Returns:
        A `Program`, which runs when it is called.

    Parameters, persistent arrays and states of update rules are read whenever the program runs,
    where the function reaches them through links or optimizers that it calls, names or closes over.
    Other arrays from outside are constants. So are Python's numbers and `core.config`; a program
    whose updates would be made with other numbers, because a learning rate was changed or a rule's
    rate follows its count of steps, refuses to run.

    Raises:
        TraceError: The function looks at a value, as by `if`, `float` or a mask as an index; the
            message names operation, link and line.

    >>> import core, numpy as np
    >>> program = core.trace(lambda x, y: (x + y) * 2, np.ones(3, "f"), np.ones(3, "f"))
    >>> print(program)
    <lambda>(x0, x1):
      x0: float32[3]
      x1: float32[3]
      v0: float32[3] = x0 + x1
      v1: float32[3] = v0 * 2
      return v1
    >>> program(np.array([1, 2, 3], "f"), np.array([1, 1, 1], "f"))
    array([4., 6., 8.], dtype=float32)
    """
    return optimized(unabridged(function, arrays, kernels))


def unabridged(
    function: Callable[..., Any],
    arrays: tuple[Any, ...],
    kernels: bool = False,
    applied: list[Applied] | None = None,
) -> Program:
    """What `trace` gives, before anything is left out; `applied` gets the operations, in order."""
    refuse_nesting()
    given, form = flattened(arrays)
    graded = [id(x) for x in leaves(arrays) if isinstance(x, Variable) and x.requires_grad]
    if len({*graded}) < len(graded):
        raise TraceError(
            "trace: a Variable is among the arguments twice, and a program would give each its own "
            "gradient. Give arrays, or a Variable for each."
        )
    backend, device = home("trace", given, roots(function))
    inputs = tuple(map(value_like, given))
    tape = Tape(backend, kernels, device=device)
    tape.applied = applied
    return recorded(function, form, inputs, tape)


def home(who: str, arrays: list[Any], owners: list[Any]) -> tuple[Backend, Device]:
    """The backend and the device of all arrays, which they have to share.

    Where there are none, that of the first parameter of the owners, else of new arrays. Arrays with
    operations of their own, as those with units, are refused.
    """
    plain: Any = host().array_type
    for array in arrays:
        if isinstance(array, plain) and array.__array_priority__ > 0:
            raise TraceError(
                f"{who}: expected plain arrays, got a {type(array).__name__}, which has operations "
                "of its own. Call numpy.asarray on it first."
            )
    links = [each if isinstance(each, Link) else each.target for each in owners]
    params = (p for link in links if link is not None for p in link.params(include_uninit=False))
    arrays = arrays or [p.array for p in params][:1]
    places = {BACKENDS[type(array)].device_of(array) for array in arrays}
    if len(places) > 1:
        told = ", ".join(sorted(map(str, places)))
        raise TraceError(f"{who}: expected arrays of one backend on one device, got {told}.")
    device = places.pop() if places else current().default_device()
    tracing_backend().record(device.backend)  # type: ignore[attr-defined]
    return device.backend, device


def recorded(
    function: Callable[..., Any],
    form: Any,
    inputs: tuple[Value, ...],
    tape: Tape,
    owners: list[Any] | None = None,
) -> Program:
    """What a function does to arrays of these values, in arguments of a structure, as it does it.

    The arrays of the owners are traced, by default of those that the function can name. Where
    another trace is under way, its arrays are constants of this one.
    """
    tracer = tracing_backend()
    tape.xp, tape.places = tracer.xp, tape.places or Places(tape)
    places = tape.places
    made = [traced(tape, value) for value in inputs]
    try:
        places.begin()
        for owner in roots(function) if owners is None else owners:
            if isinstance(owner, Link):
                places.take(owner)
            elif isinstance(owner, Parameter):
                places.take_parameter(owner)
            elif isinstance(owner, Variable):
                places.take_variable(owner)
            else:
                places.take_optimizer(owner)
        arguments = rebuilt(form, lambda leaf: _argument(leaf, made[leaf.number]))
        variables = [(x, x._array) for x in leaves(arguments) if isinstance(x, Variable)]
        with using(tracer), using_config("debug", False):  # which looks for NaN
            returned = function(*arguments)
        if any([x._array is not array for x, array in variables]):
            raise TraceError(
                "trace: a Variable among the arguments is given another array. Change its "
                "elements, as by x.array[...] = y."
            )
        if tape.refused is not None:
            raise tape.refused
        found, result = flattened(returned)
        for leaf in leaves(result):
            if not isinstance(leaf, (Leaf, *PLAIN, host().xp.generic, host().xp.dtype)):
                raise TraceError(
                    "trace: expected results of arrays, numbers and text in tuples, lists and "
                    f"dicts, got a {type(leaf).__name__}."
                )
        outputs = tuple([value_of(tape, array) for array in found])
        present: list[Any] = [(i, array.value) for i, array in enumerate(made)]
        moved = [(i, value) for i, value in present if value is not inputs[i]]
        changes = (*moved, *places.changes())
    finally:
        places.restore()
    return Program(
        getattr(function, "__name__", type(function).__name__),
        tape.backend,
        inputs,
        form,
        tuple(places.found),
        tape.constants | tape.enclosed,
        tuple(tape.equations),
        outputs,
        result,
        changes,
        tuple(places.steps),
    )


def _argument(leaf: Leaf, array: TracedArray) -> Any:
    if leaf.kind == "array":
        return array
    return Variable(array) if leaf.kind == "variable with gradient" else wrap(array)
