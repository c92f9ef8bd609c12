"""Who shares memory with whom: outputs may be views, gradients are nobody else's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import array, ones, tanh, total, variable

import core
from core import FunctionNode, Variable


def asked(y, leaves, graph):
    core.grad([y], leaves, [y.grad_var], set_grad=True, enable_double_backprop=graph)


WALKS = {
    "backward": lambda y, leaves: y.backward(),
    "backward with a graph": lambda y, leaves: y.backward(enable_double_backprop=True),
    "grad": lambda y, leaves: asked(y, leaves, False),
    "grad with a graph": lambda y, leaves: asked(y, leaves, True),
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
def test_leaves_share_no_gradient_with_each_other_nor_with_the_caller(walk):
    x, w, b = variable(4), variable(4), variable(4)
    y = (x + w) + b
    g = array(4)
    kept = g.copy()
    y.grad = g
    walk(y, [x, w, b])
    x.grad *= 2
    w.grad += 1
    np.testing.assert_array_equal(g, kept)
    np.testing.assert_array_equal(b.grad, kept)
    np.testing.assert_array_equal(w.grad, kept + 1)
    assert y.grad is g


def test_accumulation_does_not_write_into_the_callers_gradient():
    x = variable(4)
    y = x + x + x + x
    g = array(4)
    kept = g.copy()
    y.grad = g
    y.backward()
    np.testing.assert_allclose(x.grad, 4 * kept)
    np.testing.assert_array_equal(g, kept)


def test_a_sum_in_progress_is_not_what_another_branch_reads():
    x, w = variable(4), variable(4)
    h = x + w
    y = h + h
    z = y + h
    g = array(4)
    z.grad = g
    z.backward()
    np.testing.assert_allclose(x.grad, 3 * g, rtol=1e-6)
    np.testing.assert_allclose(w.grad, 3 * g, rtol=1e-6)
    assert not np.shares_memory(x.grad, w.grad)


def test_views_of_a_cotangent_are_copied_before_they_are_handed_out():
    x, w = variable(2, 3), variable(6)
    y = x.reshape(6) + w
    g = array(6)
    y.grad = g
    y.backward()
    assert not np.shares_memory(x.grad, w.grad)
    assert not np.shares_memory(x.grad, g) and not np.shares_memory(w.grad, g)


SCALED = {
    "sum": total,
    "sum, once": lambda x: total(x) * 1,
    "mean": lambda x: 6 * core.functions.mean(x),
}


@pytest.mark.parametrize("scaled", SCALED.values(), ids=SCALED)
def test_broadcast_gradients_can_be_written_to(scaled):
    x, w = variable(2, 3), variable(2, 3)
    scaled(x + w).backward()
    x.grad += 1
    np.testing.assert_allclose(x.grad, np.full((2, 3), 2, "f"), rtol=1e-6)
    np.testing.assert_allclose(w.grad, np.ones((2, 3), "f"), rtol=1e-6)
    w.grad[0] = 5
    assert (w.grad[1] != 5).all()


def test_hooks_change_gradients_of_a_mean_of_a_parameter():
    link = core.Link(p=(2, 3))
    link.p.array[...] = 1
    optimizer = core.optimizers.SGD(1).setup(link)
    optimizer.add_hook(core.optimizer_hooks.WeightDecay(0.5))
    core.functions.mean(link.p).backward()
    optimizer.update()
    np.testing.assert_allclose(link.p.array, 1 - 1 / 6 - 0.5, rtol=1e-6)


class SameForBoth(FunctionNode):
    """Hands one array to two inputs as their gradient."""

    def forward(self, inputs):
        return (inputs[0] + inputs[1],)

    def backward(self, indexes, grad_outputs):
        return tuple(grad_outputs[0] for _ in indexes)


def test_one_gradient_for_two_inputs_which_both_have_more():
    x, w = variable(4), variable(4)
    (y,) = SameForBoth().apply((x, w))
    g = array(4)
    z = y + x * 2 + w * 3
    z.grad = g
    z.backward()
    np.testing.assert_allclose(x.grad, 3 * g, rtol=1e-6)
    np.testing.assert_allclose(w.grad, 4 * g, rtol=1e-6)


def test_an_output_that_is_its_input():
    class Itself(FunctionNode):
        def forward(self, inputs):
            return inputs

        def backward(self, indexes, grad_outputs):
            return grad_outputs

    x = variable(4)
    (y,) = Itself().apply((x,))
    assert y.array is x.array
    total(y * y).backward()
    np.testing.assert_allclose(x.grad, 2 * x.array)


def test_a_gradient_kept_by_retain_grad_is_not_written_to_later():
    x = variable(4)
    h = x * 2
    y = total(h) + total(h * h)
    y.backward(retain_grad=True)
    kept = h.grad.copy()
    y.backward()
    z = total(h)
    z.backward(retain_grad=True)
    np.testing.assert_allclose(kept, 1 + 2 * 2 * x.array, rtol=1e-6)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("between", [lambda x: x + 1, lambda x: x.reshape(2, 2), lambda x: x.T])
def test_the_gradient_of_a_leaf_is_none_of_those_kept_in_between(between, graph):
    x = variable(4)
    h = between(x)
    options = {"retain_grad": True, "enable_double_backprop": graph}
    total(h * h).backward(**options)
    (g,) = core.grad([total(h * h)], [x], **options)
    kept = h.grad.copy()
    for gradient in (x.grad, g.array):  # as a hook of an optimizer clips it
        assert not np.shares_memory(gradient, h.grad)
        gradient *= 0
    np.testing.assert_array_equal(h.grad, kept)


def read_only(x):
    x.grad.flags.writeable = False


HOLDING = {
    "the array": lambda x: x.grad,
    "a view of it": lambda x: x.grad[1:],
    "its Variable": lambda x: x.grad_var,
    "its buffer": lambda x: memoryview(x.grad),
    "another variable": lambda x: Variable(array(4), grad=x.grad),
    "nobody, but it is read-only": read_only,
}


def again(x, y):
    y.backward()


def added(x, y):
    other = Variable(array(4), grad=np.full(4, 3, "f"))
    x.addgrad(other)
    np.testing.assert_array_equal(other.grad, np.full(4, 3, "f"))


@pytest.mark.parametrize("add", [again, added])
@pytest.mark.parametrize("hold", HOLDING.values(), ids=HOLDING)
def test_a_gradient_that_somebody_holds_is_not_added_to(add, hold):
    x = variable(4)
    y = total(x * 3)
    y.backward()
    address = x.grad.ctypes.data
    held = hold(x)
    add(x, y)
    np.testing.assert_array_equal(x.grad, np.full(4, 6, "f"))
    assert x.grad.ctypes.data != address
    if held is not None:
        seen = getattr(held, "grad", None)
        np.testing.assert_array_equal(core.as_array(held) if seen is None else seen, 3)


@pytest.mark.parametrize("add", [again, added])
def test_a_gradient_that_nobody_holds_is_added_to_in_place(add):
    x = variable(4)
    y = total(x * 3)
    y.backward()
    address = x.grad.ctypes.data
    add(x, y)
    np.testing.assert_array_equal(x.grad, np.full(4, 6, "f"))
    assert x.grad.ctypes.data == address


def test_no_gradient_is_added_to_where_one_does_not_fit():
    x, w = variable(4), variable(4)
    x.grad, w.grad = ones(4), ones(4)
    w.array = array(3)
    y = total(x * 3) + total(w * 2)
    w.array = array(4)
    with pytest.raises((TypeError, ValueError)):
        y.backward()
    np.testing.assert_array_equal(x.grad, ones(4))


def test_a_gradient_of_an_earlier_shape_is_not_added_to():
    x = variable(2, 3)
    total(x).backward()
    x.array = array(3)
    with pytest.raises(ValueError, match="before its array changed"):
        total(x * 3).backward()
    np.testing.assert_array_equal(x.grad, ones(2, 3))


def test_addgrad_and_copydata_share_nothing():
    x, y = variable(4), variable(4)
    y.grad = ones(4)
    x.addgrad(y)
    x.grad += 1
    np.testing.assert_array_equal(y.grad, ones(4))
    x.copydata(y)
    x.array[...] = 0
    assert (y.array != 0).all()


@given(
    st.lists(st.sampled_from(["add", "view", "twice", "tanh", "split"]), max_size=8),
    st.sampled_from(list(WALKS)),
)
def test_no_program_writes_into_its_inputs(steps, walk):
    """Random graphs of views, sums and shared gradients: inputs and cotangent stay as they were."""
    x, w = Variable(np.linspace(0.1, 0.6, 6)), Variable(np.linspace(-0.5, 0.5, 6))
    kept = [x.array.copy(), w.array.copy()]
    y = x + w
    for step in steps:
        y = {
            "add": lambda v: v + x,
            "view": lambda v: v.reshape(2, 3).reshape(6),
            "twice": lambda v: v + v,
            "tanh": tanh,
            "split": lambda v: v + v[::-1],
        }[step](y)
    g = np.linspace(1, 2, 6)
    y.grad = g
    WALKS[walk](y, [x, w])
    np.testing.assert_array_equal(x.array, kept[0])
    np.testing.assert_array_equal(w.array, kept[1])
    np.testing.assert_array_equal(g, np.linspace(1, 2, 6))
    assert not np.shares_memory(x.grad, w.grad) and not np.shares_memory(x.grad, g)


def test_a_gradient_that_is_a_copy_leads_back_as_well():
    x, w = variable(4), variable(4)
    gx, gw = core.grad([total((x + w) ** 3)], [x, w], enable_double_backprop=True)
    for g in (gx, gw):
        (second,) = core.grad([total(g)], [x])
        np.testing.assert_allclose(second.array, 6 * (x.array + w.array), rtol=1e-6)


@pytest.mark.parametrize("name", ["numpy", "strict"])
def test_accumulation_on_every_backend(name):
    b = core.backend.get(name)
    x = Variable(b.asarray(array(3)))
    g = b.asarray(ones(3))
    y = x + x + x * 2 + x
    y.grad = g
    y.backward()
    np.testing.assert_allclose(b.to_host(x.grad), np.full(3, 5, "f"))
    np.testing.assert_array_equal(b.to_host(g), ones(3))
