"""Threads: one model used by several, one graph walked by several, walks within walks."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from samples import array, ones, tanh, total, variable

import core
from core import FunctionNode, Variable
from core.errors import GraphError

WORKERS = 4


def everywhere(function, times=WORKERS):
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda _: function(), range(times)))


def test_forward_on_one_model_from_several_threads():
    w = core.Parameter(array(50, 50))
    x = Variable(array(20, 50))
    expected = tanh(x @ w).array
    start = threading.Barrier(WORKERS)

    def run():
        start.wait()
        return [tanh(x @ w).array for _ in range(50)]

    for results in everywhere(run):
        for y in results:
            np.testing.assert_array_equal(y, expected)


def test_graphs_of_their_own_with_shared_inputs():
    """Each thread differentiates its own graph; grad() leaves the shared leaves alone."""
    w = variable(30)

    def run():
        x = Variable(ones(30))
        y = x
        for _ in range(50):
            y = tanh(y * w)
        return core.grad([total(y)], [w])[0].array

    first, *others = everywhere(run, 12)
    for other in others:
        np.testing.assert_array_equal(other, first)
    assert w.grad is None


def test_one_graph_asked_for_gradients_by_several_threads():
    x, w = variable(4), variable(4)
    y = x
    for _ in range(300):
        y = tanh(y * w)
    z = total(y)
    expected = core.grad([z], [x])[0].array

    def run():
        return [core.grad([z], [x])[0].array for _ in range(20)]

    for results in everywhere(run):
        for g in results:
            np.testing.assert_array_equal(g, expected)


def test_new_shapes_met_by_several_threads_at_once():
    """The tables of shapes fill while others read them."""

    def run():
        found = []
        for n in range(1, 200):
            x = Variable(np.ones(n, "f"))
            y = total(tanh(x * x) + x)
            y.backward()
            found.append(float(x.grad.sum()))
        return found

    first, *others = everywhere(run)
    assert all(other == first for other in others)


class Recomputing(FunctionNode):
    """tanh(x w), which its backward computes again and walks, inside the walk that asks for it."""

    def __init__(self, w):
        self.w = w

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (np.tanh(inputs[0] * self.w.array),)

    def backward(self, indexes, grad_outputs):
        with core.force_backprop_mode():
            x = Variable(self.get_retained_inputs()[0].array)
            y = tanh(x * self.w)
            y.grad = grad_outputs[0].array
            y.backward()
        return (x.grad_var,)


def test_a_backward_inside_a_backward():
    w = variable(4)

    def gradients(f):
        w.cleargrad()
        x = Variable(np.full(4, 0.3, "f"))
        total(f(f(x * w) * w) * w).backward()
        return x.grad, w.grad

    recomputed = gradients(lambda x: Recomputing(w).apply((x,))[0])
    direct = gradients(lambda x: tanh(x * w))
    for a, b in zip(recomputed, direct, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_backward_inside_a_hook():
    seen = []

    class Inner(core.FunctionHook):
        name = "Inner"
        busy = False

        def backward_postprocess(self, function, in_data, out_grad):
            if self.busy:
                return
            self.busy = True
            x = Variable(np.array([3.0], "f"))
            with core.force_backprop_mode():
                (x * x).backward()
            seen.append((function.label, x.grad.item()))
            self.busy = False

    x = variable(4)
    y = total(tanh(x * x))
    y.backward()
    expected = x.grad
    x.cleargrad()
    with Inner():
        y.backward()
    np.testing.assert_array_equal(x.grad, expected)
    assert seen == [("Sum", 6.0), ("Tanh", 6.0), ("_ * _", 6.0)]


def test_a_backward_inside_a_hook_without_a_graph_is_refused_by_name():
    class Inner(core.FunctionHook):
        name = "Inner"

        def backward_preprocess(self, function, in_data, out_grad):
            (variable(1) * 2).backward()

    y = total(variable(4) * 2)
    with Inner(), pytest.raises(GraphError, match="no_backprop_mode"):
        y.backward()


def test_hooks_of_one_thread_do_not_see_another():
    labels = []

    class Labels(core.FunctionHook):
        name = "Labels"

        def forward_preprocess(self, function, in_data):
            labels.append(function.label)

    with Labels():
        thread = threading.Thread(target=lambda: tanh(variable(3)))
        thread.start()
        thread.join()
    assert labels == []
