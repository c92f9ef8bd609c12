"""Old-style functions: what existing code relies on, and what must never go wrong silently."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strict_backend import StrictBackend

import core
from core.arrays import backend
from core.compat.type_check import InvalidType, expect
from core.errors import GraphError, NotDifferentiable


class Multiply(core.Function):
    def check_type_forward(self, in_types):
        expect(in_types.size() == 2, in_types[0].shape == in_types[1].shape)

    def forward(self, inputs):
        x, y = inputs
        return (x * y,)

    def backward(self, inputs, grad_outputs):
        x, y = inputs
        (g,) = grad_outputs
        return g * y, g * x


class Add(core.Function):
    """Retains nothing; remembers what backward was given."""

    def forward(self, inputs):
        self.retain_inputs(())
        return (inputs[0] + inputs[1],)

    def backward(self, inputs, grad_outputs):
        self.given = inputs
        return grad_outputs[0], grad_outputs[0]


class Tanh(core.Function):
    """Retains its output."""

    def forward(self, inputs):
        self.retain_inputs(())
        self.retain_outputs((0,))
        return (np.tanh(inputs[0]),)

    def backward(self, inputs, grad_outputs):
        (y,) = self.output_data
        return (grad_outputs[0] * (y.dtype.type(1) - y * y),)


class KeepingTanh(core.Function):
    """Keeps its output as an attribute."""

    def forward(self, inputs):
        self.y = np.tanh(inputs[0])
        return (self.y,)

    def backward(self, inputs, grad_outputs):
        return (grad_outputs[0] * (1 - self.y * self.y),)


class Split(core.Function):
    """Two outputs; tells which gradients came."""

    def forward(self, inputs):
        (x,) = inputs
        return x * 2, x * 3

    def backward(self, inputs, grad_outputs):
        self.came = tuple(g is not None for g in grad_outputs)
        a, b = (0 if g is None else g for g in grad_outputs)
        return (a * 2 + b * 3,)


class Silent(core.Function):
    """Has no backward."""

    def forward(self, inputs):
        return (inputs[0] + 1,)


def variable(*values, dtype="f"):
    return core.Variable(np.array(values, dtype))


floats = st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=5)

# ---------------------------------------------------------------------- applying


@given(floats)
def test_forward_and_backward(values):
    x, y = variable(*values), variable(*values[::-1])
    z = Multiply()(x, y)
    z.grad = np.full(len(values), 2, "f")
    z.backward()
    np.testing.assert_array_equal(z.array, x.array * y.array)
    np.testing.assert_array_equal(x.grad, 2 * y.array)
    np.testing.assert_array_equal(y.grad, 2 * x.array)


@pytest.mark.parametrize("kind", [Tanh, KeepingTanh])
@given(floats)
def test_outputs_kept_by_request_or_as_attributes(kind, values):
    x = variable(*values)
    y = kind()(x)
    y.grad = np.ones_like(x.array)
    y.backward()
    np.testing.assert_allclose(x.grad, 1 - np.tanh(x.array) ** 2, rtol=1e-5, atol=1e-6)
    assert x.grad.dtype == np.float32


def test_one_output_is_a_variable_and_several_are_a_tuple():
    x = variable(1)
    assert isinstance(Silent()(x), core.Variable)
    outputs = Split()(x)
    assert type(outputs) is tuple
    assert len(outputs) == 2


def test_arrays_are_taken_for_variables():
    y = Multiply()(np.ones(2, "f"), variable(1, 2))
    y.grad = np.ones(2, "f")
    y.backward()
    np.testing.assert_array_equal(y.array, [1, 2])


def test_outputs_without_a_gradient_are_none():
    x, f = variable(1), Split()
    _, b = f(x)
    b.backward()
    assert f.came == (False, True)
    np.testing.assert_array_equal(x.grad, [3])


def test_types_are_checked_under_the_name_of_the_function():
    with pytest.raises(InvalidType, match=r"performed in: Multiply \(Forward\)"):
        Multiply()(variable(1, 2), variable(1))


def test_without_backprop_nothing_is_recorded():
    f = Multiply()
    with core.no_backprop_mode():
        y = f(variable(1), variable(2))
    assert y.creator is None
    assert f.inputs is None


def test_the_cpu_forms_are_called_on_a_cpu():
    class Parts(core.Function):
        def forward_cpu(self, inputs):
            return (inputs[0] * 5,)

        def backward_cpu(self, inputs, grad_outputs):
            return (grad_outputs[0] * 5,)

        def forward_gpu(self, inputs):
            raise AssertionError

        backward_gpu = forward_gpu

    x = variable(1)
    y = Parts()(x)
    y.backward()
    np.testing.assert_array_equal(y.array, [5])
    np.testing.assert_array_equal(x.grad, [5])


def test_the_gpu_forms_are_called_on_a_gpu():
    """Whatever its backend is called."""

    class Gpu(StrictBackend):
        name = "other"
        on_gpu = True

    class Parts(core.Function):
        def forward_gpu(self, inputs):
            return (inputs[0] * 7,)

        def backward_gpu(self, inputs, grad_outputs):
            return (grad_outputs[0] * 7,)

    class Node(core.FunctionNode):
        def forward_gpu(self, inputs):
            return (inputs[0] * 3,)

    class Rule(core.UpdateRule):
        def update_core_gpu(self, param):
            param.array = param.array * 2

    strict = backend.get("strict")
    gpu = Gpu()
    backend.unregister(strict)
    backend.register(gpu)
    try:
        x = core.Variable(gpu.asarray([1.0], "float32"))
        y = Parts()(x)
        y.backward()
        assert float(y.array[0]) == float(x.grad[0]) == 7
        assert float(Node().apply((x,))[0].array[0]) == 3
        param = core.Parameter(gpu.asarray([1.0], "float32"))
        param.grad = gpu.asarray([1.0], "float32")
        Rule().update(param)
        assert float(param.array[0]) == 2
    finally:
        backend.unregister(gpu)
        backend.register(strict)


def test_other_backends_work_alike():
    strict = backend.get("strict")
    x = core.Variable(strict.asarray([2.0, 3.0], "float32"))
    y = Multiply()(x, x)
    y.grad = strict.asarray([1.0, 1.0], "float32")
    y.backward()
    np.testing.assert_array_equal(backend.to_host(x.grad), [4, 6])


def test_a_function_without_forward_says_what_is_missing():
    with pytest.raises(GraphError, match="Empty: expected the class to define forward"):
        type("Empty", (core.Function,), {})()(variable(1))


# ---------------------------------------------------------------------- what is retained


def test_all_inputs_are_retained_unless_the_function_says_less():
    x, y = variable(1), variable(2)
    z = Multiply()(x, y)
    assert [node.data is v.array for node, v in zip(z.creator.inputs, (x, y), strict=True)] == [
        True,
        True,
    ]
    z = Add()(x * 1, y * 1)
    assert [node.data for node in z.creator.inputs] == [None, None]


def test_inputs_that_are_not_retained_are_none_in_backward():
    x, f = variable(1), Add()
    f(x, x * x).backward()
    assert f.given == (None, None), "also where another function retained them"


def test_what_is_not_retained_is_freed():
    x = variable(1, 2)
    h = x + 1
    gone = weakref.ref(h.array)
    y = Add()(h, h)
    del h
    assert gone() is None
    y.grad = np.ones(2, "f")
    y.backward()
    np.testing.assert_array_equal(x.grad, [2, 2])


def test_retaining_outside_forward_is_refused():
    f = Tanh()
    y = f(variable(1))
    for call in (f.retain_inputs, f.retain_outputs):
        with pytest.raises(GraphError, match="Tanh.retain_.*outside forward"):
            call((0,))
    assert y.creator is f


def test_forward_can_be_called_by_hand_after_backward():
    x = variable(0.5)
    y = Tanh()(x)
    y.backward()
    (again,) = y.creator.forward((x.array,))
    np.testing.assert_array_equal(again, y.array)
    (again,) = y.creator_node.forward((x.array,))
    np.testing.assert_array_equal(again, y.array)


def test_output_data():
    f = Tanh()
    y = f(variable(0.5))
    assert f.output_data[0] is y.array
    g = Split()
    a, b = g(variable(1))
    assert g.output_data == (None, None)
    assert a.creator is b.creator is g


def test_retain_outputs_takes_its_second_argument():
    class Late(Tanh):
        def forward(self, inputs):
            self.retain_outputs((0,), retain_after_backward=True)
            return (np.tanh(inputs[0]),)

    f = Late()
    y = f(variable(0.5))
    y.backward()
    assert f.output_data[0] is y.array


# ---------------------------------------------------------------------- its place in the graph


def test_the_creator_is_the_function_and_the_node_its_adapter():
    x, f = variable(1), Multiply()
    y = f(x, x)
    assert y.creator is f
    assert isinstance(y.creator_node, core.FunctionAdapter)
    assert y.creator_node is f.node
    assert f.node.function is f
    assert f.inputs[0] is x.node
    assert f.outputs[0]() is y.node
    assert (f.label, f.node.label, f.rank) == ("Multiply", "Multiply", 0)
    assert Silent()(y).creator.rank == 1


def test_the_stack_is_known_in_debug_mode():
    f = Silent()
    y = f(variable(1))
    assert f.stack is None
    with core.using_config("debug", True):
        y = f(variable(1))
    assert any("test_function.py" in frame.filename for frame in f.stack)
    assert y.creator is f


def test_a_function_may_be_made_the_creator_of_a_variable():
    x, f = variable(1), Silent()
    x.set_creator(f)
    assert x.creator is f
    assert x.creator_node is f.node


def test_unchain():
    x, f = variable(1), Silent()
    y = f(x)
    f.unchain()
    assert y.creator is None
    assert f.inputs is None


def test_own_labels_are_used():
    class Named(Silent):
        @property
        def label(self):
            return "a name of its own"

    assert Named()(variable(1)).creator_node.label == "a name of its own"


def test_no_cycle_holds_the_graph():
    gc.collect()
    gc.disable()
    try:
        x, f = variable(1), KeepingTanh()
        y = f(f(x))
        y.backward()
        nodes = [weakref.ref(y.creator_node), weakref.ref(y.creator_node.inputs[0])]
        assert all(node() is not None for node in nodes)
        del y
        assert [node() for node in nodes] == [None, None]
        assert f.inputs is None
    finally:
        gc.enable()


def test_the_graph_keeps_its_function():
    x = variable(0.5)
    y = KeepingTanh()(x)
    gc.collect()
    y.backward()
    assert x.grad is not None


# ---------------------------------------------------------------------- one instance, many calls


@pytest.mark.parametrize("kind", [Tanh, KeepingTanh])
@given(values=st.lists(st.floats(-2, 2, width=32), min_size=2, max_size=4))
def test_each_call_of_one_instance_has_its_own_gradient(kind, values):
    f = kind()
    xs = [variable(value) for value in values]
    ys = [f(x) for x in xs]
    for y in ys:
        y.backward()
    for x in xs:
        np.testing.assert_allclose(x.grad, 1 - np.tanh(x.array) ** 2, rtol=1e-5, atol=1e-6)
    assert ys[-1].creator is f
    assert len({id(y.creator_node) for y in ys}) == len(ys)


def test_a_chain_of_one_instance():
    x, f = variable(0.3, dtype="d"), KeepingTanh()
    f(f(f(x))).backward()
    h = np.float64(0.3)
    slope = 1.0
    for _ in range(3):
        h = np.tanh(h)
        slope *= 1 - h * h
    np.testing.assert_allclose(x.grad, [slope])


def test_an_earlier_call_keeps_what_it_is_asked_for():
    f = Tanh()
    y1, y2 = f(variable(0.5)), f(variable(1.5))
    assert y1.creator.output_data[0] is y1.array
    assert y2.creator.output_data[0] is y2.array
    assert y1.creator.node is y1.creator_node


def test_one_instance_in_several_threads():
    f = Tanh()
    wrong = []

    def work(value):
        for _ in range(50):
            x = variable(value)
            f(x).backward()
            if not np.allclose(x.grad, 1 - np.tanh(x.array) ** 2, atol=1e-6):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in (0.1, 0.5, 1.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_functions_pickle_and_copy_without_their_graph():
    f = KeepingTanh()
    f.scale = 3
    y = f(variable(0.5))
    for duplicate in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f), copy.copy(f)):
        assert duplicate.scale == 3
        assert duplicate.inputs is None
    assert y.creator is f
    assert f.inputs is not None


# ---------------------------------------------------------------------- derivatives it has not


def test_without_a_backward_there_is_no_gradient():
    x = variable(1)
    y = Silent()(x) + x * 2
    y.backward()
    np.testing.assert_array_equal(x.grad, [2])
    assert core.grad([Silent()(x)], [x]) == [None]


def test_the_first_derivative_is_there_when_the_graph_is_wanted():
    x, y = variable(3), variable(4)
    z = Multiply()(x, y)
    gx, gy = core.grad([z], [x, y], enable_double_backprop=True)
    np.testing.assert_array_equal([gx.array, gy.array], [[4], [3]])
    z.backward(enable_double_backprop=True)
    np.testing.assert_array_equal(x.grad_var.array, [4])


@pytest.mark.parametrize("kind", [Multiply, Add])
def test_second_derivatives_are_refused_by_name(kind):
    x = variable(3)
    (gx,) = core.grad([kind()(x * 1, x * 1)], [x], enable_double_backprop=True)
    with pytest.raises(NotDifferentiable, match=f"{kind.__name__}: .*FunctionNode"):
        core.grad([gx], [x])
    with pytest.raises(NotDifferentiable, match=kind.__name__):
        gx.backward()
    assert x.grad is None


def test_second_derivatives_are_refused_by_the_way_of_the_output_gradient():
    x, w = variable(3), variable(2)
    y = Add()(x, x) * w * w
    (gx,) = core.grad([y], [x], enable_double_backprop=True)
    with pytest.raises(NotDifferentiable, match="Add"):
        core.grad([gx], [w])


def test_second_derivatives_that_pass_by_are_computed():
    x, w = variable(3), variable(2)
    Multiply()(x, x).backward(enable_double_backprop=True)
    (g,) = core.grad([x.grad_var + w * w], [w])
    np.testing.assert_array_equal(g.array, [4])


def test_second_derivatives_elsewhere_in_the_graph_are_computed():
    x = variable(3)
    (gx,) = core.grad([x * x * x + Silent()(x)], [x], enable_double_backprop=True)
    (ggx,) = core.grad([gx], [x])
    np.testing.assert_array_equal(ggx.array, [18])


# ---------------------------------------------------------------------- wrong gradients


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda g: g, ValueError, "expected a tuple of 2 gradients.*got ndarray"),
        (lambda g: (g,), ValueError, "expected a tuple of 2 gradients.*got 1"),
        (lambda g: (g, g[:1]), ValueError, r"shape \(2,\) for input 1.*got \(1,\)"),
        (lambda g: (g.astype("d"), g), TypeError, "dtype float32 for input 0.*got float64"),
        (lambda g: (g, "g"), TypeError, "gradient of input 1, got str"),
    ],
)
def test_wrong_gradients_are_refused(answer, error, message):
    class Wrong(Add):
        def backward(self, inputs, grad_outputs):
            return answer(grad_outputs[0])

    x, y = variable(1, 2), variable(3, 4)
    z = Wrong()(x, y)
    z.grad = np.ones(2, "f")
    with pytest.raises(error, match="Wrong.backward: .*" + message):
        z.backward()
    assert x.grad is y.grad is None


def test_scalars_of_numpy_become_arrays():
    class Total(core.Function):
        def forward(self, inputs):
            return (np.sum(inputs[0]),)

        def backward(self, inputs, grad_outputs):
            return (np.sum(grad_outputs[0]),)

    x = core.Variable(np.array(3, "f"))
    y = Total()(x)
    y.backward()
    assert isinstance(y.array, np.ndarray)
    assert isinstance(x.grad, np.ndarray)
    assert x.grad == 1


def test_an_error_in_backward_leaves_nothing_behind():
    class Failing(Silent):
        def backward(self, inputs, grad_outputs):
            raise RuntimeError("inside")

    x, f = variable(1), Failing()
    y = f(x)
    with pytest.raises(RuntimeError, match="inside"):
        y.backward()
    assert x.grad is None
    assert f(variable(2)).creator is f


# ---------------------------------------------------------------------- hooks


class Recorder(core.FunctionHook):
    name = "Recorder"

    def __init__(self):
        self.calls = []

    def forward_preprocess(self, function, in_data):
        self.calls.append(("forward", function.label))

    def backward_preprocess(self, function, in_data, out_grad):
        self.calls.append(("backward", function.label))


@pytest.mark.parametrize("before", [True, False])
def test_hooks_of_one_function(before):
    x, f, hook = variable(1), Tanh(), Recorder()
    if before:
        f.add_hook(hook)
    y = f(x)
    if not before:
        f.add_hook(hook)
    y.backward()
    expected = [("forward", "Tanh")] * before + [("backward", "Tanh")]
    assert hook.calls == expected
    assert f.local_function_hooks == {"Recorder": hook}
    with pytest.raises(KeyError, match="Recorder"):
        f.add_hook(hook)
    f.delete_hook("Recorder")
    f(x)
    assert hook.calls == expected
    with pytest.raises(KeyError, match="Recorder"):
        f.delete_hook("Recorder")


def test_hooks_of_all_functions_see_old_ones():
    x, hook = variable(0.5), Recorder()
    with hook:
        Tanh()(x).backward()
    assert hook.calls == [("forward", "Tanh"), ("backward", "Tanh")]
