"""Models as files of ONNX's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from core import Link, Variable, as_variable, no_backprop_mode, registry, using_config
from core.errors import ExportError
from core.errors.kinds import checked
from core.programs import Equation, Program, Value
from core.tracing import Applied, unabridged
from plugins.export.external import External
from plugins.export.following import Followed, followed, hides
from plugins.export.graph import Graph
from plugins.export.open_axes import Axes, open_axes, resized, samples
from plugins.export.sizes import CURE, Sizes
from plugins.export.words import WORDS
from plugins.extras import need
from plugins.serializers.atomic import replacing, write_all
from plugins.serializers.open_files import check_open

IR_VERSIONS = dict(zip(range(18, 29), (8, 9, 9, 10, 10, 11, 12, 13, 13, 13, 14), strict=True))
"""The versions of ONNX's operators that can be written, and of the format that came with each."""


@checked
def onnx(
    model: Callable[..., Any],
    inputs: Any,
    file: str | os.PathLike[str] | Any,
    *,
    opset: int = 20,
    batch: str | None = "batch",
    dynamic_axes: Mapping[str, Mapping[int, str]] | None = None,
    train: bool = False,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    external_data: bool = False,
) -> None:
    """Write a model as ONNX, to be run by other programs.

    The model is traced (`core.trace`): every operation is written that is made of the array
    standard's words, with ONNX's own operators for layers that have one. What a plugin gives by
    `register_exporters` comes first.

    Args:
        model: A link, or a function of arrays or Variables that gives such, or tuples, lists or
            dicts of them.
        inputs: An array or a Variable, or a tuple of them for several arguments; of their elements
            nothing is read.
        file: A path, or a file open for writing bytes. A path has the old file or the new one.
        opset: Version of ONNX's operators, 18 to 28.
        batch: What the size of the batch is called, which may be any in the file: the first axis of
            each input that is as long as that of the first. None for the sizes of `inputs` alone.
        dynamic_axes: More axes of any size, by the names of inputs: `{"x0": {1: "length"}}`. Axes
            of one name have one size.
        train: Whether the model is traced as in training, with dropout and statistics of batches.
        input_names: What inputs are called; x0, x1, ... by default.
        output_names: What results are called; their keys in a dict, else y0, y1, ...
        external_data: Whether arrays lie beside the file, which holds 2 GiB at most, in one that is
            called as it, with a digest of the arrays and `.data` behind.

    Parameters have their paths as names, as `l1/W`.

    Raises:
        ExportError: Something cannot be written; the message names operation, link and line.
        TraceError: Something cannot be traced.
        ImportError: The library onnx is missing.

    >>> import core, core.links as L, numpy as np, io
    >>> file = io.BytesIO()
    >>> core.export.onnx(L.Linear(3, 2), np.zeros((4, 3), "f"), file)
    >>> file.tell() > 100
    True
    """
    _refuse(model, file, opset, external_data)
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    arrays = tuple([as_variable(x).array for x in given])
    if any([a is None for a in arrays]):
        raise ExportError("onnx: expected an array, or a tuple of them, as inputs, got None.")
    names = input_names or [f"x{i}" for i in range(len(arrays))]
    axes = open_axes(arrays, names, batch, dynamic_axes)
    traced = _traced(model, arrays, axes, train)
    external = External() if external_data else None
    made = _Writing(traced, opset, axes, names, output_names, external).model()
    if external is not None:
        external.write(file, made.graph.initializer)
    data = made.SerializeToString()
    if not isinstance(file, str | os.PathLike):
        write_all("onnx", file, data)
        return
    with replacing(file) as temporary:
        temporary.write_bytes(data)


def _refuse(model: Any, file: Any, opset: int, external_data: bool) -> None:
    """Raise where nothing could be written, whatever the model does."""
    if opset not in IR_VERSIONS:
        known = f"{min(IR_VERSIONS)} to {max(IR_VERSIONS)}"
        raise ExportError(f"onnx: expected an opset from {known}, got {opset!r}.")
    need("onnx", "onnx", "core.export.onnx")
    if not isinstance(file, str | os.PathLike):
        check_open("onnx", file, "writing")
        if external_data:
            raise ExportError(
                "onnx: expected a path, beside which external_data lies, got an open file."
            )
    for path, parameter in model.namedparams() if isinstance(model, Link) else ():
        if not parameter.is_initialized:
            raise ExportError(
                f"onnx: expected parameters with values, got {path} without. Call the model once "
                "before."
            )


class _Traced(NamedTuple):
    """A program whose numbers follow open sizes, its operations, and what they are."""

    program: Program
    applied: list[Applied]
    sizes: Sizes
    followed: Followed


def _traced(model: Any, arrays: tuple[Any, ...], axes: Axes, train: bool) -> _Traced:
    def trace(given: tuple[Any, ...]) -> tuple[Program, list[Applied]]:
        applied: list[Applied] = []
        with using_config("train", train), no_backprop_mode():
            variables = tuple([Variable(a, requires_grad=False) for a in given])
            return unabridged(model, variables, applied=applied), applied

    program, applied = trace(arrays)
    windows = any([e.call.name == "windows" for e in program.equations])
    failed: list[Exception] = []
    doubtful = False
    for sizes in samples(arrays, axes, windows):
        traces = [(program, applied)]
        try:
            for i in range(1, sizes.count):
                traces.append(trace(resized(arrays, axes, sizes, i)))
        except Exception as error:
            error.add_note(_note(sizes, i))
            failed.append(error)
            continue
        if len(traces) == 1:
            return _Traced(program, applied, sizes, Followed({}, {}))
        if windows and not failed and not doubtful and hides([each for each, _ in traces]):
            doubtful = True
            continue
        outer = [(each, [*_outer(each, calls)]) for each, calls in traces]
        return _Traced(program, applied, sizes, followed(outer, sizes))
    raise failed[0]


def _note(sizes: Sizes, trace: int) -> str:
    now = ", ".join([f"a {name} of {each[trace]}" for name, each in sizes.samples.items()])
    was = ", ".join([str(each[0]) for each in sizes.samples.values()])
    return f"onnx: this is for {now}, where {was} was given. {CURE}"


def _outer(program: Program, applied: list[Applied]) -> Iterator[Applied]:
    """Operations that have a translation; the outer ones alone, in order."""
    named = set(registry.catalogue("exporters").names())
    end = 0
    for call in sorted(applied, key=lambda a: (a.first, -a.end)):
        if end <= call.first < call.end and _name_of(call) in named:
            yield call
            end = call.end


class _Writing:
    def __init__(
        self,
        traced: _Traced,
        opset: int,
        axes: Axes,
        input_names: Sequence[str],
        output_names: Sequence[str] | None,
        external: External | None,
    ) -> None:
        program, applied, sizes, (self.unfollowed, self.resettled) = traced
        self.program, self.opset = program, opset
        if not program.outputs:
            raise ExportError(
                "onnx: expected a model that gives arrays or Variables, got "
                f"{type(program.result).__name__}. Models are traced in no_backprop_mode, in which "
                "gradients are None."
            )
        places = {place.value: place for place in program.places}
        self.names = input_names
        self.results = output_names or _result_names(program)
        self._refuse_names()
        for i, axis, name in axes:
            sizes.places[name].append((self.names[i], axis))
        self.graph = Graph(opset, sizes, external)
        self.graph._taken.update(self.results)
        for value, name in zip(program.inputs, self.names, strict=True):
            self.graph.define(value, name)
        for value, place in places.items():
            self.graph.arrays[value] = place.name.lstrip("/"), place.read()
        for i, (value, array) in enumerate(program.constants.items()):
            self.graph.arrays[value] = f"c{i}", array
        self.needed = self._needed()
        self._refuse_state()
        self.whole = self._whole(applied)

    def _refuse_names(self) -> None:
        """Raise where inputs and results do not have a name each, of their own."""
        for what, names, values in (
            ("input_names", self.names, self.program.inputs),
            ("output_names", self.results, self.program.outputs),
        ):
            if len(names) != len(values) or len({*names}) != len(names):
                raise ExportError(
                    f"onnx: expected {len(values)} {what}, each another, got {list(names)}."
                )
        if not all(self.names) or not all(self.results) or {*self.results} & {*self.names}:
            raise ExportError(
                "onnx: expected names that are not empty, and others for results than for inputs, "
                f"got {[*self.names]} and {[*self.results]}."
            )

    def _needed(self) -> list[bool]:
        needed, found = {*self.program.outputs}, []
        for e in reversed(self.program.equations):
            wanted = not needed.isdisjoint(e.outputs)
            if wanted:
                needed.update(e.inputs)
            found.append(wanted)
        return found[::-1]

    def _refuse_state(self) -> None:
        """Raise where results depend on what earlier calls have left."""
        program = self.program
        read = {*program.outputs}
        for e, needed in zip(program.equations, self.needed, strict=True):
            if needed:
                read.update(e.inputs)
        for target, _ in program.changes:
            if not isinstance(target, int) and target.value in read:
                raise ExportError(
                    f"onnx: the model changes {target.name} when it is called, and what it gives "
                    "would depend on earlier calls. Export a function that takes and returns it."
                )

    def _whole(self, applied: list[Applied]) -> dict[int, tuple[Applied, Any]]:
        """Operations that have a translation, by their first equations; the outer ones alone."""
        table = registry.catalogue("exporters")
        named = set(table.names())
        used: dict[Value, int] = {}
        for i, e in enumerate(self.program.equations):
            if self.needed[i]:
                used.update(dict.fromkeys(e.inputs, i))  # the last one that reads it
        used.update(dict.fromkeys(self.program.outputs, len(self.program.equations)))
        found: dict[int, tuple[Applied, Any]] = {}
        end = 0
        for call in sorted(applied, key=lambda a: (a.first, -a.end)):
            name = _name_of(call)
            if call.first < end or call.first == call.end or name not in named:
                continue
            equations = self.program.equations[call.first : call.end]
            inside = {v for e in equations for v in e.outputs} - {*call.outputs}
            if any([used.get(v, -1) >= call.end for v in inside]) or not _of_one_dtype(call):
                continue
            translation = table.get(name)
            if call.first in self.resettled:
                if not getattr(translation, "takes_open_settings", False):
                    continue
                call = call._replace(function=self.resettled[call.first])
            found[call.first], end = (call, translation), call.end
        return found

    def model(self) -> Any:
        """The model as a message."""
        helper = need("onnx.helper", "onnx", "core.export.onnx")
        self._write()
        g, program = self.graph, self.program
        outputs = []
        for value, name in zip(program.outputs, self.results, strict=True):
            g.nodes.append(
                helper.make_node("Identity", [g.value(value)], [name], name=f"give {name}")
            )
            outputs.append(self._info(value, name))
        inputs = [self._info(v, n) for v, n in zip(program.inputs, self.names, strict=True)]
        graph = helper.make_graph(g.nodes, program.name, inputs, outputs, g.initializers)
        from core import __version__

        return helper.make_model(
            graph,
            producer_name="plugrad",
            producer_version=__version__,
            ir_version=IR_VERSIONS[self.opset],
            opset_imports=[helper.make_opsetid("", self.opset)],
        )

    def _info(self, value: Value, name: str) -> Any:
        helper = self.graph._helper
        shape = [self._length(n) for n in value.shape]
        return helper.make_tensor_value_info(name, self.graph.element_type(value.dtype), shape)

    def _length(self, n: int) -> Any:
        terms = getattr(n, "terms", None)
        if terms is None:
            return int(n)
        return next((n for n in self.graph.given_sizes if terms == (((n,), 1),)), None)

    def _write(self) -> None:
        skipped = 0
        for i, e in enumerate(self.program.equations):
            if i < skipped:
                continue
            if i in self.whole and any(self.needed[i : self.whole[i][0].end]):
                call, translation = self.whole[i]
                if self._translated(call, translation):
                    skipped = call.end
                    continue
            if self.needed[i]:
                self._refuse_sizes(i)
                self._equation(e)

    def _refuse_sizes(self, i: int) -> None:
        """Raise what is said of an operation whose formula does not follow the sizes."""
        for first, (end, error) in self.unfollowed.items():
            if first <= i < end:
                raise error

    def _translated(self, call: Applied, translation: Any) -> bool:
        g = self.graph
        before = len(g.nodes), len(g.initializers)
        g.origin = self._origin(self.program.equations[call.first])
        names = translation(g, call, *[g.value(v) for v in call.inputs])
        if names is None:
            if (len(g.nodes), len(g.initializers)) != before and len(g.nodes) != before[0]:
                raise ExportError(
                    f"onnx: {translation.__name__} declines after it has added nodes."
                )
            return False
        for value, name in zip(call.outputs, names, strict=True):
            g.names[value] = name
        return True

    def _equation(self, e: Equation) -> None:
        g = self.graph
        if e.call.acts and e.call.kind != "random":
            return
        g.origin = self._origin(e)
        translation = WORDS.get(e.call.name)
        dtypes = {v.dtype.kind: v.dtype for v in (*e.inputs, *e.outputs)}
        if translation is None or "c" in dtypes:
            raise g.refuse(e)
        if "V" in dtypes:  # of ml_dtypes, as bfloat16
            why = f"its formula is not written in {dtypes['V']}; export the model in float32"
            raise g.refuse(e, why)
        _name_arguments(e)
        if lost := _UNWRITTEN & e.kwargs.keys():
            raise g.refuse(e, f"ONNX has nothing for its argument {min(lost)}")
        for value, name in zip(e.outputs, translation(g, e), strict=True):
            g.names[value] = name

    def _origin(self, e: Equation) -> str:
        link = e.origin.link.split(" ")[0].strip("/")
        return "/".join([part for part in (link, e.origin.operation) if part])


_UNWRITTEN = {"where", "initial", "mode"}
"""Arguments of NumPy's functions that no translation looks at."""

_BY_NAME = {*_UNWRITTEN, "dtype", "out", "ddof", "keepdims"}
"""Arguments of NumPy's functions that translations look for by their names alone."""


def _name_arguments(e: Equation) -> None:
    """Give what is passed to a function of NumPy's by position the names that it has there."""
    function = getattr(np, e.call.name, None)
    if e.call.kind not in ("xp", "method") or not callable(function) or len(e.args) < 3:
        return
    try:
        taken = signature(function).parameters.values()
    except ValueError:  # of a function in C, which tells none: it has no arguments of these names
        return
    names = [p.name for p in taken if p.kind <= p.POSITIONAL_OR_KEYWORD][: len(e.args)]
    for first, name in enumerate(names):
        if name in _BY_NAME:
            e.kwargs = {**e.kwargs, **dict(zip(names[first:], e.args[first:], strict=True))}
            e.args = e.args[:first]
            return


def _name_of(call: Applied) -> str:
    """Which operation it is, as exporters are registered."""
    cls = type(call.function)
    return f"{cls.__module__}:{cls.__qualname__}"


def _of_one_dtype(call: Applied) -> bool:
    kinds = {v.dtype for v in (*call.inputs, *call.outputs) if v.dtype.kind == "f"}
    return len(kinds) <= 1


def _result_names(program: Program) -> list[str]:
    if isinstance(program.result, dict) and len(program.result) == len(program.outputs):
        return [str(key) for key in program.result]
    return [f"y{i}" for i in range(len(program.outputs))]
