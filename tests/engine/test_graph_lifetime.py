"""What lives as long as what: graphs die by reference count, and arrays with them."""

import gc
import tracemalloc
from weakref import ref

import numpy as np
import pytest
from samples import (
    GeneralTanh,
    Halves,
    array,
    multiply,
    no_collector,
    ones,
    tanh,
    total,
    variable,
)

import core
import core.functions as F
from core import Elementwise, Variable
from core.errors import GraphError

# -- what a graph looks like -----------------------------------------------------------------------


def test_nodes_functions_and_their_neighbours(form):
    multiply_, tanh_ = form
    x, w = Variable(array(4), name="x"), variable(4)
    h = multiply_(x, w)
    y = tanh_(h)
    f, k = y.creator, h.creator
    assert y.node is y.node and y.creator_node is f
    assert f.inputs[0] is h.node and f.inputs[0].creator is k and k.inputs == (x.node, w.node)
    assert f.outputs[0]() is y.node and k.outputs[0]() is h.node
    assert (y.rank, f.rank, h.rank, k.rank, x.rank) == (2, 1, 1, 0, 0)
    assert f.label in ("Tanh", "GeneralTanh")
    assert x.node.name == "x" and h.node.label == "(4), float32"
    assert h.node.shape == (4,) and h.node.dtype == np.float32
    assert h.node.get_variable() is h and h.node.get_variable_or_none() is h


def test_what_rules_name_is_retained_and_nothing_else(form):
    multiply_, tanh_ = form
    x, w = variable(4), variable(4)
    h = multiply_(x, w)
    y = tanh_(h)
    assert h.creator.inputs[0].data is x.array and y.creator.inputs[0].data is None
    assert y.creator.get_retained_outputs()[0].array is y.array
    alive = ref(h.array)
    node = h.node
    del h
    assert alive() is None and node.data is None


def test_a_variable_whose_owner_is_gone_comes_back_with_its_place(form):
    multiply_, tanh_ = form
    h = multiply_(variable(4), variable(4))
    y = tanh_(h)
    node, k = h.node, h.creator
    del h
    again = node.get_variable()
    assert again.node is node and again.creator is k and node.get_variable() is again
    assert y.creator.inputs[0] is node


def test_creator_forward_works_after_backward():
    x = variable(4)
    y = tanh(x)
    total(y).backward()
    (again,) = y.creator.forward((x.array,))
    np.testing.assert_array_equal(again, y.array)


# -- death by reference count ----------------------------------------------------------------------


@pytest.mark.parametrize("graph", [False, True], ids=["plain", "double"])
def test_everything_dies_with_its_last_user(form, graph):
    multiply_, tanh_ = form
    with no_collector():
        x, w = variable(4), variable(4)
        h = multiply_(x, w)
        t = tanh_(h)
        y = multiply_(t, x)
        y.grad = array(4)
        arrays = [ref(v.array) for v in (h, t, y)]
        functions = [ref(v.creator) for v in (h, t, y)]
        of_x = ref(x.array)
        y.backward(enable_double_backprop=graph)
        gradient = ref(x.grad)
        for v in (x, w, y):
            v.cleargrad()
        assert gradient() is None
        del h, t
        assert arrays[0]() is None, "no rule needs the product itself"
        del y, v
        assert [a() for a in arrays + functions] == [None] * 6
        del x
        assert of_x() is None
        assert gc.collect() == 0


def test_a_leaf_dies_where_no_rule_needs_it():
    x = variable(4)
    y = x + x
    alive, node = ref(x.array), x.node
    del x
    assert alive() is None
    y.grad = array(4)
    y.backward()
    assert node.grad is None


def test_a_frozen_weight_does_not_keep_its_input_alive():
    w = variable(4, requires_grad=False)
    x = variable(4)
    y = x * w
    alive = ref(x.array)
    del x
    assert alive() is None and y.creator.inputs[1].data is w.array


def test_an_exception_leaves_no_graph_behind():
    class Boom(Elementwise):
        def compute(self, xp, x):
            return x * 1

        def gradient(self, xp, g):
            raise ZeroDivisionError

    with no_collector():
        x = variable(4)
        h = Boom.call(x * x)
        alive = ref(h.array)
        with pytest.raises(ZeroDivisionError) as caught:
            total(h).backward()
        del h, caught
        assert alive() is None


def test_an_exception_in_a_link_leaves_no_graph_behind():
    class Fails(core.Link):
        def forward(self, x):
            y = x * x
            alive.append(ref(y.array))
            raise MemoryError

    alive, model = [], core.Sequential(Fails())
    with no_collector():
        h = variable(4) * 2
        alive.append(ref(h.array))
        with pytest.raises(MemoryError) as caught:
            model(h)
        assert "Fails" in caught.value.__notes__[0]
        del h, caught
        assert [found() is None for found in alive] == [True, True]


# -- backward twice, and backward that frees -------------------------------------------------------


def test_a_plain_backward_keeps_the_graph():
    x = variable(4)
    y = total(tanh(x * x))
    y.backward()
    first = x.grad.copy()
    x.cleargrad()
    y.backward()
    np.testing.assert_array_equal(x.grad, first)


def test_a_freeing_backward_gives_the_same_gradients_and_frees(form):
    multiply_, tanh_ = form
    x, w = variable(4), variable(4)

    def loss():
        return total(tanh_(multiply_(tanh_(multiply_(x, w)), w)))

    loss().backward()
    expected = [x.grad, w.grad]
    x.cleargrad(), w.cleargrad()
    y = loss()
    function = ref(y.creator.inputs[0].creator)
    y.backward(free_graph=True)
    np.testing.assert_array_equal(x.grad, expected[0])
    np.testing.assert_array_equal(w.grad, expected[1])
    assert y.creator is None and function() is None


def test_a_freeing_backward_spares_what_somebody_holds():
    x = variable(4)
    h = tanh(x * 2)
    y = total(h * 3)
    y.backward(free_graph=True)
    x.cleargrad()
    total(h).backward()
    np.testing.assert_allclose(x.grad, 2 * (1 - h.array**2), rtol=1e-6)


def test_a_freeing_backward_drops_activations_as_it_goes():
    """Of 50 activations of 400 kB, the walk's end finds hardly any alive."""
    seen = []

    class Watch(Elementwise):
        def compute(self, xp, x):
            return x * 1

        def gradient(self, xp, g):
            seen.append(sum(a() is not None for a in alive))
            return g

    x = variable(100_000)
    y, alive = Watch.call(x), []
    for _ in range(50):
        y = tanh(y)
        alive.append(ref(y.array))
    y.grad = ones(100_000)
    y.backward(free_graph=True)
    assert len(alive) == 50 and seen[0] <= 2


@pytest.mark.parametrize("accumulated", [False, True], ids=["cleared", "accumulated"])
@pytest.mark.parametrize(("freeing", "allowed"), [(True, 1.25), (False, 2.25)])
def test_a_step_takes_the_memory_of_its_activations_and_of_no_gradient_twice(
    freeing, allowed, accumulated
):
    """Of the new gradients alone the plain backward, which keeps the activations, has as many."""
    layers, n = 40, 100  # a product packs a factor, which is one more array
    weights = [Variable(array(n, n) / n) for _ in range(layers)]

    def loss():
        h = Variable(array(n, n), requires_grad=False)
        for w in weights:
            h = F.relu(F.matmul(h, w))
        return total(h)

    def step():
        loss().backward(free_graph=freeing)

    step()  # what is loaded by the first call stays out of the count
    for w in weights:
        w.grad = np.zeros_like(w.array) if accumulated else None
    tracemalloc.start()
    try:
        step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < allowed * layers * n * n * 4


def test_a_function_of_several_outputs_dies_when_the_walk_has_passed_it():
    alive = []

    class Watch(Elementwise):
        def compute(self, xp, x):
            return x * 1

        def gradient(self, xp, g):
            alive.append(function() is not None)
            return g

    def loss():
        nonlocal function
        first, second = Halves.call(Watch.call(tanh(variable(4))))
        function = ref(first.creator)
        return total(first) + total(second)

    function = None
    loss().backward(free_graph=True)
    assert alive == [False]


@pytest.mark.parametrize(
    "again",
    [
        lambda y, x, w: y.backward(),
        lambda y, x, w: (y * 3).backward(),
        lambda y, x, w: (y * w).backward(),
        lambda y, x, w: core.backward([total(x), y]),
        lambda y, x, w: core.grad([y], [x]),
        lambda y, x, w: core.grad([y * 3], [x]),
        lambda y, x, w: core.grad([y * w], [x, w]),
    ],
)
def test_a_second_backward_over_a_freed_graph_is_refused_before_it_has_an_effect(again):
    x, w = variable(4), variable(1)
    y = total(tanh(x)) * 2
    y.backward(free_graph=True)
    before = x.grad.copy()
    with pytest.raises(GraphError, match="the result of .* was freed by an earlier backward"):
        again(y, x, total(w))
    np.testing.assert_array_equal(x.grad, before)
    assert w.grad is None


def test_a_result_whose_graph_was_freed_is_a_result_still():
    x, w = variable(4), variable(1)
    y = total(tanh(x)) * 2
    y.backward(free_graph=True)
    (gy,) = core.grad([y * 3], [y])
    assert gy.array == 3
    y.unchain()
    y = Variable(y.array)
    (y * total(w)).backward()
    np.testing.assert_allclose(w.grad, [y.array])


# -- length ----------------------------------------------------------------------------------------


def _step(x, w):
    h = tanh(x * w)
    y = total(multiply(h, h) + x)
    y.backward()
    x.cleargrad()
    w.cleargrad()


def test_three_thousand_steps_without_the_collector_keep_memory_flat():
    x, w = variable(50), variable(50)
    for _ in range(100):
        _step(x, w)
    with no_collector():
        tracemalloc.start()
        try:
            _step(x, w)
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(3_000):
                _step(x, w)
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
        assert gc.collect() == 0, "the steps made reference cycles"
    assert grown < 20_000, f"memory grew by {grown} bytes over 3,000 steps"


@pytest.mark.parametrize("freeing", [False, True])
def test_a_chain_of_100_000_ops_is_built_walked_and_dropped(freeing):
    x = variable(4, dtype="float64")
    y = x
    for _ in range(100_000):
        y = y * 0.99999
    assert y.rank == 100_000
    y.grad = ones(4, dtype="float64")
    y.backward(free_graph=freeing)
    np.testing.assert_allclose(x.grad, np.full(4, 0.99999**100_000))
    del y


def test_a_long_chain_in_the_general_form_is_walked_and_dropped():
    x = variable(4)
    y = x
    for _ in range(20_000):
        (y,) = GeneralTanh().apply((y,))
    y.grad = ones(4)
    y.backward()
    del y


def test_a_long_chain_is_unchained_and_searched_without_recursion():
    x = variable(1)
    y = x
    for _ in range(50_000):
        y = y + x
    (g,) = core.grad([y], [x])
    assert g.array.item() == 50_001
    y.unchain_backward()
    assert y.creator is None


# -- cutting ---------------------------------------------------------------------------------------


def test_unchain_cuts_here_and_the_gradient_stops_there():
    x = variable(4)
    h = x * 2
    y = h * x
    h.unchain()
    y.grad = ones(4)
    y.backward()
    np.testing.assert_array_equal(x.grad, h.array)
    np.testing.assert_array_equal(h.grad, x.array)


@pytest.mark.parametrize("retain_grad", [False, True])
@pytest.mark.parametrize("double", [False, True])
def test_unchain_cuts_one_of_several_outputs(retain_grad, double):
    x = variable(4)
    first, second = Halves.call(x)
    y = total(first * 3) + total(second * 5)
    first.unchain()
    (gx,) = core.grad([y], [x], retain_grad=retain_grad, enable_double_backprop=double)
    np.testing.assert_array_equal(gx.array, [0, 0, 10, 10])
    first.cleargrad()
    y.backward(retain_grad=retain_grad, enable_double_backprop=double)
    np.testing.assert_array_equal(x.grad, [0, 0, 10, 10])
    np.testing.assert_array_equal(first.grad, [3, 3])


def test_unchain_backward_lets_everything_before_die():
    x = variable(4)
    h = x * x
    y = tanh(h)
    before = ref(x.array)
    del x
    assert before() is not None
    y.unchain_backward()
    assert y.creator is None and h.creator is None and before() is None


def test_truncated_backpropagation_through_time():
    """Cutting the state every step keeps the graph as long as one step."""
    w, h = variable(4), Variable(array(4))
    alive = []
    for _ in range(10):
        h = tanh(h * w)
        alive.append(ref(h.array))
        total(h).backward()
        h.unchain_backward()
    assert sum(a() is not None for a in alive) <= 1


def test_retain_data_keeps_an_array_beyond_its_variable():
    h = variable(4) * 2
    y = h + 1
    node = h.node
    h.retain_data()
    kept = h.array
    del h
    assert node.data is kept and y.creator is not None
    gone = (variable(4) * 2).node
    with pytest.raises(GraphError, match="released|gone"):
        gone.retain_data()


def test_retaining_outside_forward_is_refused():
    y = tanh(variable(4))
    with pytest.raises(GraphError, match="forward"):
        y.creator.retain_inputs((0,))
    with pytest.raises(GraphError, match="forward"):
        y.creator.retain_outputs((0,))


@pytest.mark.parametrize("node", [GeneralTanh, F.Tanh])
def test_one_node_applied_twice_stands_in_two_graphs(node):
    f, x, z = node(), variable(4), variable(5)
    (y,), w = f.apply((x,)), f(z)
    assert y.creator is f and type(w.creator) is node and w.creator is not f
    for found, leaf in ((y, x), (w, z)):
        (g,) = core.grad([found], [leaf], [Variable(np.ones_like(leaf.array))])
        np.testing.assert_allclose(g.array, 1 - np.tanh(leaf.array) ** 2, rtol=1e-6)


def test_the_hooks_of_a_node_go_with_it():
    class Counting(core.FunctionHook):
        seen = 0

        def backward_preprocess(self, function, in_data, out_grad):
            Counting.seen += 1

    f, x = F.Tanh(), variable(4)
    f.add_hook(Counting())
    F.sum(f(x) + f(x)).backward()
    assert Counting.seen == 2


@pytest.mark.parametrize("inlined", [False, True])
def test_a_node_with_a_hook_may_be_the_first_of_its_class_that_is_applied(inlined):
    class Tripled(core.Elementwise):
        inline = inlined

        def compute(self, xp, x):
            return x * 3

        def gradient(self, xp, g):
            return g * 3

    f, x = Tripled(), variable(4)
    f.add_hook(core.FunctionHook())
    F.sum(f(x)).backward()
    np.testing.assert_array_equal(x.grad, np.full(4, 3))


def test_classes_that_are_made_in_a_function_are_let_go_of():
    """What they name in it may be large. CPython 3.13t keeps classes once it has had threads."""

    def plain():
        class Plain:
            pass

        return ref(Plain)

    def operation():
        class Scale(core.FunctionNode):
            factor: float = 2.0

            def compute(self, xp, x):
                return x * self.factor

            def gradient(self, xp, g):
                return g * self.factor

        F.sum(Scale.call(core.Variable(np.ones(2)))).backward()
        return ref(Scale)

    def rule():
        class Step(core.UpdateRule):
            lr: float = 0.1

            def step(self, xp, param, grad):
                param -= self.lr * grad

        class Optimizer(core.GradientMethod):
            rule = Step

        model = core.links.Linear(2, 1)
        Optimizer().setup(model).update(lambda: F.sum(model(np.ones((1, 2), "f"))))
        return ref(Step)

    known, python = (operation(), rule()), plain()
    gc.collect()
    if python() is not None:
        pytest.skip("this Python lets go of no class")
    assert [each() for each in known] == [None, None]
