"""Kernels from formulas: what an operation declares, traced, and run with loops of a backend's.

A backend that has loops (`Backend.fuser`) needs no kernel by hand for an operation whose formula
they can compute: `Formulas` gives one for its `compute`, and one for its gradient rules. Each is
made at the first call with inputs of some shapes and dtypes, and settings, from the formula itself.
16-bit floats that are computed in float32 are widened and rounded within it.

An elementwise operation whose inputs have one shape has one kernel for all shapes, where the
backend's loops take any number of elements (`Sizer`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

from core.arrays.array_backend import Backend
from core.arrays.spec import intern
from core.errors import OutOfRange
from core.graph.graph_node import GraphNode
from core.programs import (
    Fuser,
    Group,
    Leaf,
    Program,
    Sizer,
    compiled,
    fused,
    mapped,
    optimized,
    value_like,
)
from core.registry.configuration import is_debug
from core.registry.once import publishing
from core.tracing.array import TracedArray
from core.tracing.backend import tracing_backend
from core.tracing.kernels import formula_of
from core.tracing.tape import Tape
from core.tracing.tracing import recorded

MOST = 4096
"""So many kernels are kept; when there are more, all are made anew."""
ANY_SHAPE = "any shape"


class _Made(NamedTuple):
    """A kernel: what runs it, and for each of its results the name it has in the node, or None."""

    run: Callable[..., tuple[Any, ...]]
    names: tuple[Any, ...]
    plain: dict[str, Any]
    of_any_shape: bool


class Formulas:
    """Kernels of a backend for the formulas of operations.

    Args:
        backend: Whose arrays they compute with. Its dtypes are objects of NumPy's.
        fuser: What makes its loops.
    """

    def __init__(self, backend: Backend, fuser: Fuser) -> None:
        self._backend = backend
        self._fuser = fuser
        self._known: dict[Any, _Made | None] = {}

    def compute(self, f: Any, xp: Any, *arrays: Any) -> Any:
        """The kernel of an operation; NotImplemented where no loop is in its formula."""
        own = f._own()
        tree = arrays, own
        made, given = self._found(("compute",), (), tree, _traced_compute, f)
        if made is None:
            return NotImplemented
        try:
            found = made.run(*given)
        except OutOfRange:  # the formula says which number it is, and where
            return NotImplemented
        vars(f).update(made.plain)
        results = []
        for name, array in zip(made.names, found, strict=True):
            if name is None:
                results.append(array)
            else:
                setattr(f, name, array)
        return tuple(results) if f.declared.outputs else results[0]

    def found(self, f: Any, *arrays: Any) -> Callable[..., Any] | None:
        """What computes the only result of nodes like `f`, of other inputs of this shape and dtype.

        It looks for nothing. None where there is no loop, or where nodes have settings.
        """
        if f.declared.fields or f.declared.outputs:
            return None
        made, _ = self._found(("compute",), (), (arrays, f._own()), _traced_compute, f)
        if made is None or made.names != (None,):
            return None
        run = made.run

        def alone(*arrays: Any) -> Any:
            try:
                return run(*arrays)[0]
            except OutOfRange:
                return NotImplemented

        return alone

    def gradient(self, f: Any, g: Any, needs_grad: int) -> Any:
        """The kernel of its gradients; NotImplemented where no loop is in the rules."""
        several = bool(f.declared.outputs)
        own = f._own()
        if f.shapes is not None:
            own["shapes"] = f.shapes
        data = f.data if several else (f.data,)
        tree = (g if several else (g,), [s.data for s in f._sources], data or (), own)
        key = "gradient", needs_grad, *[(s.spec.dtype, s._sources is None) for s in f._sources]
        shapes = [s.spec.shape for s in f._sources]
        made, given = self._found(key, shapes, tree, _traced_gradient, f, needs_grad)
        if made is None:
            return NotImplemented
        gradients: list[Any] = [None] * len(f._sources)
        for i, array in zip(made.names, made.run(*given), strict=True):
            gradients[i] = array
        return tuple(gradients)

    compute.takes_halves = gradient.takes_halves = True  # type: ignore[attr-defined]

    def _found(
        self, key: Any, shapes: Any, tree: Any, trace: Any, f: Any, *args: Any
    ) -> tuple[_Made | None, list[Any]]:
        """The kernel for what is like this, and its arrays; made where there is none yet."""
        given: list[Any] = []
        frozen = _frozen(tree, given, self._backend.array_type)
        key = *key, type(f), self._backend.spec_device(given[0]), frozen
        shapes = *shapes, *[array.shape for array in given]
        keys = [(*key, shapes)]
        if f._elementwise and len({*shapes}) == 1:
            keys.insert(0, (*key, ANY_SHAPE))
        try:
            for key in keys:
                if key in self._known:
                    return self._known[key], given
        except TypeError:  # a setting that cannot be hashed
            return None, given
        if is_debug():  # where formulas look at values
            return None, given
        made = self._made(len(keys) == 2, trace, tree, given, f, *args)
        key = keys[0 if made is not None and made.of_any_shape else -1]
        with publishing:
            if len(self._known) >= MOST:
                self._known.clear()
            return self._known.setdefault(key, made), given

    def _made(
        self, alike: bool, trace: Any, tree: Any, given: list[Any], *args: Any
    ) -> _Made | None:
        names: list[Any] = []
        plain: dict[str, Any] = {}

        def function(*traced: Any) -> Any:
            arrays = iter(traced)
            put = mapped(lambda _: next(arrays), tree, self._backend.array_type)
            found, names[:] = trace(put, plain, *args)
            return tuple(found)

        try:
            program = program_of(function, given, self._backend)
            program = program.changed(equations=fused(program, self._fuser))
        except Exception:  # of what cannot be traced, and of what the formula itself refuses
            return None
        calls = [equation.call for equation in program.equations]
        if program.changes or not any([isinstance(call.function, Group) for call in calls]):
            return None
        sized = self._sized(program) if alike and not plain else None
        return _Made(sized or compiled(program), tuple(names), plain, sized is not None)

    def _sized(self, program: Program) -> Callable[..., tuple[Any, ...]] | None:
        """What computes it of arrays of any one shape; None where it is more than one loop."""
        group: Any = program.equations[0].call.function
        if len(program.equations) > 1 or not isinstance(self._fuser, Sizer) or group.rows > 1:
            return None
        outer = {*group.inputs, *group.outputs}
        if {*program.outputs} - {*group.outputs} or {*group.inputs} - {*program.inputs}:
            return None
        if group.ends or group.columns == 1 or {v.size for v in outer} != {group.columns}:
            return None
        run = self._fuser.sized(group)
        read = [program.inputs.index(value) for value in group.inputs]
        written = [group.outputs.index(value) for value in program.outputs]

        def sized(*arrays: Any) -> tuple[Any, ...]:
            found = run(*[arrays[i].reshape(-1) for i in read])
            return tuple([found[i].reshape(arrays[0].shape) for i in written])

        return sized


def program_of(function: Callable[..., Any], arrays: list[Any], backend: Backend) -> Program:
    """What a function does to arrays like these, of any backend whose dtypes are NumPy's."""
    inputs = tuple(map(value_like, arrays))
    form = tuple([Leaf(i, "array") for i in range(len(arrays))])
    return optimized(recorded(function, form, inputs, Tape(backend), []))


def _frozen(tree: Any, arrays: list[Any], kind: type) -> Any:
    """A structure as something to be looked up by, with the dtype of each array."""
    if isinstance(tree, kind):
        arrays.append(tree)
        array: Any = tree
        return kind, array.dtype
    if isinstance(tree, (tuple, list)):
        return tuple([_frozen(part, arrays, kind) for part in tree])
    if isinstance(tree, dict):
        return tuple([(name, _frozen(part, arrays, kind)) for name, part in tree.items()])
    return type(tree), tree


def _node(f: Any, own: dict[str, Any]) -> Any:
    """A node of the same settings, whose arrays are traced."""
    node = GraphNode.__new__(type(f))
    vars(node).update(own)
    if "backend" in own:
        vars(node)["backend"] = tracing_backend()
    return node


def _traced_compute(tree: Any, plain: dict[str, Any], f: Any) -> tuple[list[Any], list[Any]]:
    arrays, own = tree
    node = _node(f, own)
    before = dict(vars(node))
    xp = tracing_backend().ops_xp(max([array.shape for array in arrays], key=prod))
    specs = [intern(tracing_backend(), array.shape, array.dtype, None) for array in arrays]
    y = formula_of(type(f), specs)(node, xp, *arrays)
    results = list(y) if f.declared.outputs else [y]
    names: list[Any] = [None] * len(results)
    for name, value in vars(node).items():
        if value is before.get(name, f):
            continue
        if isinstance(value, TracedArray):
            results.append(value)
            names.append(name)
        else:
            plain[name] = value
    return results, names


class _Source:
    """What gradient rules look at of an input."""

    __slots__ = ("_sources", "data", "spec")
    is_function = _constant = False

    def __init__(self, source: Any, data: Any) -> None:
        self.spec = _spec(source.spec)
        self._sources = source._sources
        self.data = data


def _traced_gradient(
    tree: Any, plain: dict[str, Any], f: Any, needs_grad: int
) -> tuple[list[Any], list[Any]]:
    given, inputs, data, own = tree
    several = bool(f.declared.outputs)
    node = _node(f, own)
    node.needs_grad = needs_grad
    node._sources = tuple([_Source(s, x) for s, x in zip(f._sources, inputs, strict=True)])
    node.data = tuple(data) if several else data[0]
    node.spec = None if several else _spec(f.spec)
    found = f._rules[1](node, tuple(given) if several else given[0], needs_grad)
    wanted = [i for i, g in enumerate(found) if g is not None]
    return [found[i] for i in wanted], wanted


def _spec(spec: Any) -> Any:
    return intern(tracing_backend(), spec.shape, spec.dtype, None)
