"""Slips of those who write functions: each is refused by the name of the function, with a cure."""

import numpy as np
import pytest
from samples import ones, total, variable

import core
from core import FunctionNode, Variable
from core.errors import GraphError, InvalidType
from core.function_hooks import TimerHook
from core.links import Linear


def node(**methods):
    methods.setdefault("forward", lambda self, inputs: (inputs[0] * 1,))
    return type("Mine", (FunctionNode,), methods)()


def forward(compute):
    return lambda: node(forward=lambda self, inputs: compute(self, inputs)).apply((variable(2, 3),))


def backward(compute):
    def run():
        x = variable(2, 3)
        (y,) = node(backward=lambda self, indexes, gys: compute(gys)).apply((x * 2,))
        try:
            total(y).backward()
        finally:
            assert x.grad is None

    return run


def giving(*results):
    """A declared operation of two outputs that computes these."""
    names = {"output_names": ("one", "other"), "compute": lambda self, xp, x: results[0]}
    return lambda: type("Mine", (FunctionNode,), names)().apply((variable(2),))


def declared(result, **names):
    """A declared operation of one output whose `compute` gives what `result` makes of an array."""
    methods = {
        "compute": lambda self, xp, x: result(x),
        "gradient": lambda self, xp, g: result(g),
        **names,
    }
    return type("Mine", (FunctionNode,), methods)()


def evaluated(result):
    return lambda: declared(result).evaluate(ones(2))


def applied(result):
    return lambda: declared(result)(variable(2))


def retaining(what, indexes):
    def compute(self, inputs):
        getattr(self, what)(indexes)
        return (inputs[0] * 1,)

    return forward(compute)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (forward(lambda self, xs: [xs[0]]), "Mine.forward: expected a tuple.*list.*as .y,."),
        (forward(lambda self, xs: xs[0]), "Mine.forward: expected a tuple.*ndarray.*as .y,."),
        (forward(lambda self, xs: None), "Mine.forward: expected a tuple.*NoneType"),
        (forward(lambda self, xs: (Variable(xs[0]),)), "Mine.forward: expected arrays.*Variable"),
        (forward(lambda self, xs: ("text",)), "Mine.forward: expected arrays, got str"),
        (backward(lambda gs: gs[0]), "Mine.backward: expected a tuple.*Variable.*as .gx,."),
        (backward(lambda gs: None), "Mine.backward: expected a tuple.*NoneType"),
        (backward(lambda gs: (gs[0], gs[0])), "Mine.backward: expected 1 gradients.*got 2"),
        (backward(lambda gs: (1.0,)), "Mine.backward: expected Variables or None, got float"),
        (backward(lambda gs: (total(gs[0]),)), r"input 0 of Mine: .*\(2, 3\), got \(\)"),
        (
            backward(lambda gs: (Variable(gs[0].array.astype("d")),)),
            "gradient of input 0 of Mine: expected dtype float32, got float64",
        ),
        (giving((ones(2),)), r"Mine.compute: expected a tuple of 2 arrays \(one, other\), got 1"),
        (giving([ones(2), ones(2)]), "Mine.compute: expected a tuple of 2 arrays .*, got list"),
        (applied(lambda x: None), "Mine.compute: expected to give an array, got NoneType. Return"),
        (applied(lambda x: [x]), "Mine.compute: expected to give .*, got list.*`output_names`"),
        (applied(lambda x: (x, x)), "Mine.compute: expected to give .*, got tuple.*`output_names`"),
        (evaluated(lambda x: "text"), "Mine.compute: expected to give an array, got str"),
        (giving((ones(2), [1.0, 1.0])), "Mine.compute: expected to give an array, got list"),
        (retaining("retain_inputs", 0), "Mine.retain_inputs: expected a tuple of indexes, got 0"),
        (retaining("retain_inputs", (1,)), "Mine.retain_inputs: .* its 1 inputs, got 1"),
        (retaining("retain_outputs", (-2,)), "Mine.retain_outputs: .* its 1 outputs, got -2"),
        (lambda: type("Mine", (FunctionNode,), {})().apply((variable(2),)), "Mine: .*forward"),
        (lambda: node().apply((1.0,)), "Mine: expected Variables or arrays, got a number"),
        (lambda: node().apply((None,)), r"Mine: input in_types\[0\] is uninitialized"),
        (lambda: node().add_hook(3), "Mine.add_hook: expected a FunctionHook, got int"),
        (lambda: Linear(2, 2).add_hook(TimerHook()), "Linear.add_hook: expected a LinkHook"),
    ],
)
def test_a_slip_is_named(call, message):
    with pytest.raises((TypeError, ValueError, IndexError, GraphError), match=message):
        call()


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_a_declared_operation_with_a_backward_of_its_own_counts_its_inputs(count):
    class Own(type((variable(1) + variable(1)).creator)):
        def backward(self, indexes, grad_outputs):
            return grad_outputs * 2

    with pytest.raises(InvalidType) as error:
        Own().apply((variable(2),) * count)
    assert error.value.expect == "2 inputs" and error.value.actual == str(count)


def test_a_number_is_an_array_without_axes():
    y = declared(lambda x: 3.0)(variable(2))
    assert type(y.array) is np.ndarray and y.shape == ()


def test_a_gradient_that_does_not_fit_tells_how_to_find_who_gave_it():
    x = variable(2)
    wrong = declared(lambda x: x[:1])
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(1,\)") as error:
        total(wrong(x)).backward()
    assert error.value.__notes__ == [
        "With core.config.debug = True the operation that gave it is named."
    ]
    assert x.grad is None
    with core.using_config("debug", True):
        loss = total(declared(lambda x: x[:1])(x))
        with pytest.raises(ValueError, match="gradient of input 0 of Mine: expected shape"):
            loss.backward()


def test_indexes_may_count_from_the_end():
    class Last(FunctionNode):
        def forward(self, inputs):
            self.retain_inputs((-1,))
            self.retain_outputs([-1])
            return (inputs[0] * inputs[1],)

        def backward(self, indexes, grad_outputs):
            (x,), (y,) = self.get_retained_inputs(), self.get_retained_outputs()
            return tuple(grad_outputs[0] * (x if i == 0 else y / x) for i in indexes)

    x, w = Variable(ones(2) * 3), Variable(ones(2) * 5)
    total(Last().apply((x, w))[0]).backward()
    np.testing.assert_array_equal(x.grad, [5, 5])
    np.testing.assert_array_equal(w.grad, [3, 3])


def test_scalars_of_the_library_become_arrays():
    (y,) = node(forward=lambda self, inputs: (inputs[0].sum(),)).apply((Variable(ones(2, 3)),))
    assert type(y.array) is np.ndarray and y.array == 6


def test_a_loss_in_the_place_of_its_function():
    link = Linear(2, 2)
    optimizer = core.optimizers.SGD().setup(link)
    before = link.W.array.copy()
    loss = total(link(ones(1, 2)))
    with pytest.raises(core.errors.UpdateError, match="got Variable.*loss.backward"):
        optimizer.update(loss)
    assert (link.W.array == before).all()


def test_metadata_by_numpys_functions():
    x = variable(2, 3)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)
