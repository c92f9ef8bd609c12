"""Copies to a GPU that overlap with computation, on a GPU that does its work in any order it may.

The GPU here is a model: streams are queues, and what is asked of them is done in an order drawn at
random, as far as events allow. Memory that is freed is handed out again at once, as by CuPy's pool.
"""

import gc
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
from backends.cuda_backend.uploader import Uploader
from core.dataset import ConcatWithAsyncTransfer, concat_examples


class Event:
    done = False


class Stream:
    def __init__(self, gpu):
        self.gpu = gpu
        self.queue = []
        self.free = []  # memory that was taken in this stream and let go of

    def __enter__(self):
        self.gpu.current.append(self)

    def __exit__(self, *error):
        self.gpu.current.pop()

    def ask(self, work, after=None):
        self.queue.append((work, after))

    def record(self):
        event = Event()
        self.ask(lambda: setattr(event, "done", True))
        return event

    def wait_event(self, event):
        self.ask(lambda: None, event)

    def ready(self):
        return bool(self.queue) and (self.queue[0][1] is None or self.queue[0][1].done)


class Array:
    """Memory on the GPU; it goes back to the stream it was taken in when nobody holds it."""

    def __init__(self, stream, shape, dtype):
        fitting = [m for m in stream.free if (m.shape, m.dtype) == (shape, dtype)]
        memory = fitting[-1] if fitting else np.full(shape, -1, dtype)
        stream.free[:] = [m for m in stream.free if m is not memory]
        self.memory, self.shape, self.dtype = memory, shape, dtype
        weakref.finalize(self, stream.free.append, memory)

    def set(self, source, stream):
        memory, pinned = self.memory, source.base  # which holds no view, as a GPU holds nothing
        stream.ask(lambda: np.copyto(memory, pinned))


class Gpu:
    """A model of CuPy: enough of it for copies."""

    def __init__(self, order):
        self.order = order
        self.current = []
        self.streams = []
        self.default = self.stream()
        self.cuda = SimpleNamespace(
            Stream=lambda non_blocking: self.stream(),
            get_current_stream=lambda: self.current[-1] if self.current else self.default,
        )
        self.pinned = []  # (memory, whether anybody holds it)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def stream(self):
        self.streams.append(Stream(self))
        return self.streams[-1]

    def empty(self, shape, dtype):
        return Array(self.cuda.get_current_stream(), shape, dtype)

    def empty_pinned(self, shape, dtype):
        """Host memory that is spoilt as soon as nobody holds it."""
        memory = np.empty(shape, dtype)
        held = memory.view()
        weakref.finalize(held, memory.fill, 99)
        return held

    def work(self, steps):
        for _ in range(steps):
            ready = [stream for stream in self.streams if stream.ready()]
            if not ready:
                return
            work, _ = ready[next(self.order) % len(ready)].queue.pop(0)
            work()

    def finish(self):
        while any(stream.queue for stream in self.streams):
            self.work(1)


def pinning(gpu):
    return SimpleNamespace(empty_pinned=gpu.empty_pinned)


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(1, 2), st.integers(0, 6)), min_size=1, max_size=12),
    st.lists(st.integers(0, 50), min_size=30, max_size=60),
    st.booleans(),
)
def test_computation_sees_its_own_batch_whatever_the_order(batches, order, own_stream):
    gpu = Gpu(iter(order * 50))
    compute = gpu.stream() if own_stream else gpu.default
    upload = Uploader(gpu, gpu, None, compute if own_stream else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupyx", pinning(gpu))
        seen, expected, kept = [], [], []
        for number, (size, steps) in enumerate(batches):
            host = [np.full(size, number), np.full((size, 2), -number, "f")]
            expected.append([array.copy() for array in host])
            arrays = upload(host)
            for array in host:
                array.fill(77)  # the caller's to change
            memory = [array.memory for array in arrays]
            compute.ask(lambda memory=memory: seen.append([m.copy() for m in memory]))
            if number % 3 == 0:
                kept.append(arrays)  # by somebody who wants it for longer
            del arrays
            gpu.work(steps)
        for arrays in kept:
            memory = [array.memory for array in arrays]
            compute.ask(lambda memory=memory: seen.append([m.copy() for m in memory]))
        gpu.finish()
        del upload
        gc.collect()
    expected += expected[::3]
    assert len(seen) == len(expected)
    for found, wanted in zip(seen, expected, strict=True):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_copy_does_not_wait_for_the_computation_before_it(monkeypatch):
    gpu = Gpu(iter(range(1000)))
    monkeypatch.setitem(sys.modules, "cupyx", pinning(gpu))
    copying = gpu.stream()
    upload = Uploader(gpu, gpu, copying, None)
    upload([np.zeros(3)])
    gpu.finish()
    gpu.default.ask(lambda: None, after=Event())  # a computation that does not end
    arrays = upload([np.ones(3)])
    gpu.work(100)
    assert gpu.default.queue and not copying.queue
    assert arrays[0].memory.tolist() == [1, 1, 1]


ABSENT = core.backend.available()["cuda"]


@pytest.mark.cuda
@pytest.mark.skipif(ABSENT is not None, reason=str(ABSENT))
def test_on_a_gpu():
    import cupy

    rng = np.random.default_rng(0)
    for given_streams in ((), (cupy.cuda.Stream(non_blocking=True),), (None, cupy.cuda.Stream())):
        transfer = ConcatWithAsyncTransfer(*given_streams)
        compute = given_streams[1] if len(given_streams) > 1 else cupy.cuda.get_current_stream()
        sums, expected = [], []
        for size in (4, 4, 4, 2, 4, 4):
            batch = [(rng.normal(size=(512, 512)).astype("f"), i) for i in range(size)]
            with compute:
                x, t = transfer(batch, device=0)
                for _ in range(20):
                    x = x @ (x * 0.01)
                sums.append((x.sum(), t))
            host, labels = concat_examples(batch)
            host = cupy.asarray(host)
            for _ in range(20):
                host = host @ (host * 0.01)
            expected.append((float(host.sum()), labels))
        cupy.cuda.Device(0).synchronize()
        for (found, t), (wanted, labels) in zip(sums, expected, strict=True):
            assert core.backend.of(t).name == "cuda" and t.get().tolist() == labels.tolist()
            np.testing.assert_allclose(float(found), wanted, rtol=1e-4)
