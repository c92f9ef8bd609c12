"""Graphs that cuDNN has planned: each made once, for arrays that lie in one way, then launched."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from ctypes import addressof, c_float
from importlib import import_module
from threading import local
from typing import Any

from backends.cuda_backend.cudnn.layout import NUMBER, Layout
from backends.cuda_backend.recording import HERE
from core import config

MOST = 512  # plans of a thread; what was not asked for the longest goes first

Write = Callable[..., Sequence[Any]]
"""Adds to a graph, with the tensors of its inputs and settings; gives those of its outputs."""

_DTYPES = {
    "float16": "HALF",
    "bfloat16": "BFLOAT16",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "number": "FLOAT",
}


class Plans:
    """The plans of each thread, which has a handle of cuDNN's of its own on each GPU.

    Args:
        cupy: CuPy, of whose pool the memory to work in is.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._cudnn = import_module("cudnn")
        self.version = int(self._cudnn.backend_version())
        self._threads = local()
        self.declined: dict[str, str] = {}
        """Graphs without a plan: what they are of, and the last reason that cuDNN gave."""

    def find(
        self, write: Write, inputs: tuple[Layout, ...], outputs: tuple[Layout, ...], *settings: Any
    ) -> Plan | None:
        """The plan of a graph for the current GPU; None where cuDNN has none."""
        mine = self._threads
        if not hasattr(mine, "known"):
            mine.known, mine.handles = OrderedDict(), {}
        device = int(self._cupy.cuda.runtime.getDevice())
        barred = unwanted(inputs[0].dtype)
        key = write, inputs, outputs, settings, device, barred
        known: OrderedDict[Any, Plan | None] = mine.known
        if key in known:
            known.move_to_end(key)
            return known[key]
        if device not in mine.handles:
            mine.handles[device] = self._cudnn.create_handle()
        handle, found = mine.handles[device], None
        graph = drawn(self._cudnn, write, inputs, outputs, *settings, handle=handle)
        try:
            planned(self._cudnn, graph, barred)
        except (self._cudnn.cudnnGraphNotSupportedError, RuntimeError) as error:
            self.declined[write.__name__] = str(error).strip().splitlines()[0]
        else:
            found = Plan(self._cupy, self._cudnn, graph, handle)
        known[key] = found
        if len(known) > MOST:
            known.popitem(last=False)
        return found


class Plan:
    """A graph that is planned, launched in the current stream of its GPU by each call."""

    def __init__(self, cupy: Any, cudnn: Any, graph: Any, handle: Any) -> None:
        self._cupy = cupy
        self._cudnn = cudnn
        self._graph = graph
        self._handle = handle
        self._size = int(graph.get_workspace_size())

    def __call__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Compute the outputs, in memory that is there, from arrays and numbers."""
        numbers = [c_float(value) if isinstance(value, float) else None for value in inputs]
        places = [
            value.data.ptr if number is None else addressof(number)
            for value, number in zip(inputs, numbers, strict=True)
        ]
        places += [array.data.ptr for array in outputs]
        workspace = self._cupy.empty(max(self._size, 1), dtype="uint8")
        stream = self._cupy.cuda.get_current_stream().ptr
        self._cudnn.set_stream(handle=self._handle, stream=stream)
        named = {uid: int(place) for uid, place in enumerate(places, 1)}
        if HERE.recording is not None:  # what the plan holds is used by each launch
            HERE.recording.keep(self, lambda: self)
        self._graph.execute(named, int(workspace.data.ptr), handle=self._handle)


def drawn(
    cudnn: Any,
    write: Write,
    inputs: Sequence[Layout],
    outputs: Sequence[Layout],
    *settings: Any,
    **where: Any,
) -> Any:
    """A graph of cuDNN's, its tensors numbered from 1: the inputs, then the outputs.

    Sums are in float32, those of float64 in float64; `where` says for which GPU it is.
    """
    of = {name: getattr(cudnn.data_type, dtype) for name, dtype in _DTYPES.items()}
    sums = of["float64" if inputs[0].dtype == "float64" else "float32"]
    graph = cudnn.pygraph(
        io_data_type=of[inputs[0].dtype],
        intermediate_data_type=sums,
        compute_data_type=sums,
        **where,
    )
    tensors = [
        graph.tensor(
            dim=list(layout.shape),
            stride=list(layout.strides),
            data_type=of[layout.dtype],
            is_pass_by_value=layout is NUMBER,
            name=f"input{uid}",
            uid=uid,
        )
        for uid, layout in enumerate(inputs, 1)
    ]
    given = zip(write(graph, tensors, *settings), outputs, strict=True)
    for uid, (tensor, layout) in enumerate(given, 1 + len(inputs)):
        tensor.set_output(True).set_data_type(of[layout.dtype]).set_uid(uid)
        tensor.set_dim(list(layout.shape)).set_stride(list(layout.strides))
    return graph


def planned(cudnn: Any, graph: Any, barred: Sequence[str]) -> None:
    """Have a graph planned by what cuDNN takes to be fastest, or at least able to compute it.

    Raises:
        cudnnGraphNotSupportedError: Nothing that is allowed is.
    """
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.deselect_numeric_notes([getattr(cudnn.numerical_note, name) for name in barred])
    graph.check_support()
    graph.build_plans()


def unwanted(dtype: str) -> tuple[str, ...]:
    """What a plan must not do with inputs of a dtype, as `config` says, in cuDNN's words.

    >>> unwanted("float32")
    ('DOWN_CONVERT_INPUTS', 'TENSOR_CORE')
    """
    barred = ["DOWN_CONVERT_INPUTS"]
    half = dtype in ("float16", "bfloat16")
    if config.use_cudnn_tensor_core == "never" if half else not config.tf32:
        barred.append("TENSOR_CORE")
    if config.cudnn_deterministic:
        barred.append("NONDETERMINISTIC")
    return tuple(barred)
