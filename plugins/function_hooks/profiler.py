"""Where the time of a program goes: by function, link, shape and thread."""

from __future__ import annotations

import os
import sys
import threading
import tracemalloc
from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any, TextIO
from weakref import WeakKeyDictionary

from core import Device, FunctionHook, FunctionNode, LinkHook
from core.arrays.spec import spec_of
from core.errors.kinds import checked
from core.link.hook import ForwardArgs
from core.typing import AnyArray
from plugins.function_hooks import chrome_trace, profile
from plugins.function_hooks.measure import in_unit, kind_of, place_of, print_table, wait_for
from plugins.function_hooks.memory_profile import BYTES
from plugins.function_hooks.profile import Call, Entry, Spec
from plugins.function_hooks.times import TIMES
from plugins.function_hooks.under_way import Frame, Thread

_TITLES = {field: field.capitalize() for field in profile.GROUPS}


class ProfilerHook(FunctionHook):
    """Record every forward and backward: a table by function, and a trace to look at.

    A function's own time leaves out the functions that are called inside it, so shares add up to
    one. A device is waited for before and after each, so figures are whole and the program is
    slower. One profiler may be entered by several threads, each with its own `with`; their calls
    are distinguished.

    Args:
        memory: Record how many bytes each call keeps in use beyond its end (negative where it
            frees some): by the backend's own statistics if it has any, otherwise by `tracemalloc`,
            which makes programs slower still.
        links: Record the links as well, and inside which of them functions are called.
        synchronize: Wait for the device, so that its work counts for the function that asked for
            it. Without, a function on a GPU counts with the time that it took to ask.

    `calls` has a record for each, in the order in which they ended.

    >>> import core, numpy as np
    >>> import core.functions as F, core.links as L
    >>> model = core.Sequential(L.Linear(3, 4), F.relu, L.Linear(4, 2))
    >>> with ProfilerHook() as profiler:
    ...     F.sum(model(np.ones((1, 3), "f"))).backward()
    >>> sorted(entry.group for entry in profiler.summary(by=("link", "function", "phase")))[:2]
    [('', 'Sum', 'backward'), ('', 'Sum', 'forward')]
    """

    name = "ProfilerHook"

    @checked
    def __init__(self, memory: bool = False, links: bool = True, synchronize: bool = True) -> None:
        self.calls: list[Call] = []
        self._memory, self._synchronize = memory, synchronize
        self._links = _Links(self) if links else None
        self._origin = perf_counter_ns()
        self._threads: list[Thread] = []
        self._here = threading.local()
        self._lock = threading.Lock()
        self._seen: WeakKeyDictionary[FunctionNode, tuple[str, tuple[Spec, ...]]] = (
            WeakKeyDictionary()
        )
        self._tracing = 0  # how many blocks rely on the tracemalloc that this hook has started

    # ------------------------------------------------------------------ recording

    def added(self, function: FunctionNode | None = None) -> None:
        """Start to listen to links, and to memory if asked to."""
        if function is None and self._links is not None:
            self._links.__enter__()
        if self._memory:
            self._trace_memory()

    def deleted(self, function: FunctionNode | None = None) -> None:
        """Stop listening, and forget what was interrupted by an exception."""
        if function is None and self._links is not None:
            self._links.__exit__()
        self._thread().running.clear()
        with self._lock:
            if self._tracing:
                self._tracing -= 1
                if not self._tracing:
                    tracemalloc.stop()

    def _trace_memory(self) -> None:
        """Start `tracemalloc`, unless somebody else has: then it is theirs to stop."""
        with self._lock:
            if self._tracing or not tracemalloc.is_tracing():
                self._tracing += 1
                tracemalloc.start()

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[AnyArray, ...]) -> None:
        """Start the clock of the call."""
        self._begin(function, place_of(in_data))

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[AnyArray, ...]) -> None:
        """Stop it, and note the call."""
        frame = self._stop(function)
        seen = self._seen[function] = self._thread().path, tuple(map(_spec, in_data))
        self._note(frame, kind_of(function), "forward", *seen)

    def backward_preprocess(
        self, function: FunctionNode, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Start the clock of the call."""
        self._begin(function, place_of((*out_grad, *in_data)))

    def backward_postprocess(
        self, function: FunctionNode, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Stop it, and note the call, with the link and the inputs of the forward."""
        frame = self._stop(function)
        seen = self._seen.get(function) or ("", _of_nodes(function.inputs or ()))
        self._note(frame, kind_of(function), "backward", *seen)

    def _begin(self, subject: Any, device: Device | None) -> None:
        if self._synchronize:
            wait_for(device)
        frame = Frame(subject, device, self._in_use(device))
        self._thread().running.append(frame)
        frame.start = perf_counter_ns()

    def _stop(self, subject: Any) -> Frame | None:
        thread = self._thread()
        frame = thread.finished(subject)
        if frame is None:
            return None  # the hook was installed in the midst of the call
        if self._synchronize:
            wait_for(frame.device)
        frame.total = perf_counter_ns() - frame.start
        if thread.running:
            thread.running[-1].inside += frame.total
        return frame

    def _note(
        self, frame: Frame | None, name: str, phase: str, link: str, inputs: tuple[Spec, ...]
    ) -> None:
        if frame is None:
            return
        in_use = self._in_use(frame.device)
        kept = None if in_use is None or frame.in_use is None else in_use - frame.in_use
        row, own = self._thread().row, frame.total - frame.inside
        self.calls.append(Call(name, phase, link, inputs, row, frame.start, frame.total, own, kept))

    def _in_use(self, device: Device | None) -> int | None:
        if not self._memory:
            return None
        stats = {} if device is None else device.backend.memory_stats()
        return stats["used"] if "used" in stats else tracemalloc.get_traced_memory()[0]

    def _thread(self) -> Thread:
        thread: Thread | None = getattr(self._here, "thread", None)
        if thread is None:
            with self._lock:
                thread = Thread(len(self._threads), threading.current_thread().name)
                self._threads.append(thread)
            self._here.thread = thread
        return thread

    # ------------------------------------------------------------------ results

    def _functions(self) -> list[Call]:
        return [call for call in self.calls if call.phase != "link"]

    def total_time(self) -> float:
        """Seconds spent in functions, in all threads together."""
        return sum(call.own for call in self._functions()) * 1e-9

    def summary(self, by: Sequence[str] = ("function", "phase")) -> list[Entry]:
        """Sums over the calls of functions, the largest first.

        Args:
            by: What the calls of one entry have in common: any of function, phase (forward or
                backward), link (its path), inputs (shapes and dtypes), thread (its name).

        Returns:
            Entries with the fields `group` (the values of `by`), `calls`, `total`, `own`, `mean`
            in seconds, `share` (of the own times) and `memory` in bytes, or None.
        """
        return profile.ordered(self._entries(by), "own")

    def _entries(self, by: Sequence[str]) -> list[Entry]:
        entries = profile.summarize(self._functions(), by)
        if "thread" not in by:
            return entries
        place, names = list(by).index("thread"), [thread.name for thread in self._threads]
        return [
            entry._replace(
                group=(*entry.group[:place], names[entry.group[place]], *entry.group[place + 1 :])
            )
            for entry in entries
        ]

    def print_report(
        self,
        file: TextIO | None = None,
        sort_by: str = "own",
        by: Sequence[str] = ("function", "phase"),
        rows: int | None = None,
        unit: str = "auto",
    ) -> None:
        """Print the summary as a table.

        Args:
            file: Where to; None for standard output at that time.
            sort_by: own, total, mean, calls, memory (the largest first), name, or first (calls).
            by: The columns that tell entries apart, as for `summary`.
            rows: How many rows at most; None for all.
            unit: sec, ms, us, ns, or auto for the one that suits each figure.
        """
        entries = profile.ordered(self._entries(by), sort_by)
        figures = ["Calls", "Own", "Share", "Total", "Mean", *["Memory"] * self._memory]
        table = [self._row(entry, by, unit) for entry in entries[:rows]]
        print_table([*(_TITLES[field] for field in by), *figures], table, file, len(by))
        print(self._closing(len(entries) - len(table)), file=file or sys.stdout)

    def _row(self, entry: Entry, by: Sequence[str], unit: str) -> list[str]:
        names = [profile.spelled(*pair) for pair in zip(by, entry.group, strict=True)]
        own, total, mean = (in_unit(t, TIMES, unit) for t in (entry.own, entry.total, entry.mean))
        row = [*names, f"{entry.calls:,}", own, f"{entry.share:.1%}", total, mean]
        return [*row, _signed(entry.memory or 0)] if self._memory else row

    def _closing(self, left_out: int) -> str:
        calls = self._functions()
        more = f"{left_out} more rows. " if left_out else ""
        return f"{more}{len(calls):,} calls, {in_unit(self.total_time(), TIMES)} in all"

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a trace for https://ui.perfetto.dev or chrome://tracing, each thread a row.

        Links lie over the functions that they call. The file is complete or not there at all.
        """
        threads = [thread.name for thread in self._threads]
        chrome_trace.write(path, self.calls, threads, self._origin)


class _Links(LinkHook):
    """Tells a profiler which links are under way."""

    name = ProfilerHook.name

    def __init__(self, profiler: ProfilerHook) -> None:
        self._profiler = profiler

    def forward_preprocess(self, args: ForwardArgs) -> None:
        self._profiler._thread().enter(args.link)
        self._profiler._begin(args.link, args.link.device)

    def forward_postprocess(self, args: ForwardArgs) -> None:
        thread = self._profiler._thread()
        frame = self._profiler._stop(args.link)
        self._profiler._note(frame, type(args.link).__name__, "link", thread.path, ())
        thread.leave()

    def forward_interrupted(self, args: ForwardArgs) -> None:
        thread = self._profiler._thread()
        thread.finished(args.link)
        thread.leave()


def _spec(array: Any) -> Spec:
    spec = spec_of(array)
    return ((), "none") if spec is None else (spec.shape, spec.name)


def _of_nodes(nodes: Sequence[Any]) -> tuple[Spec, ...]:
    """Shapes and dtypes of nodes of the graph, whose arrays may be gone."""
    return tuple((tuple(n.shape), str(n.dtype).rpartition(".")[2]) for n in nodes)


def _signed(size: int) -> str:
    return ("-" if size < 0 else "") + in_unit(abs(size), BYTES)
