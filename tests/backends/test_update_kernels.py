"""Updates block by block: the same bits as the formula on the whole array."""

import numpy as np
import pytest

import core
from backends.numpy_backend.kernels.plain import UPDATE
from backends.numpy_backend.kernels.plain.update import blockwise
from core import optimizers
from core.registry.lazy import resolve

LARGE = 1_100_003  # more than four blocks of float32, and no whole number of them


def trained(name, array, steps=3, kernel=True, **arguments):
    """The parameter and the state after some steps, with the kernel or without."""
    table = core.backend.get("numpy").update_kernels
    rule = getattr(optimizers, name).rule
    found = table.pop(rule) if not kernel else None
    try:
        model = core.Link()
        with model.init_scope():
            model.x = core.Parameter(array.copy(order="K"))
        optimizer = getattr(optimizers, name)(**arguments).setup(model)
        draw = np.random.default_rng(0)
        for _ in range(steps):
            model.x.grad = draw.standard_normal(array.shape, "f").astype(array.dtype)
            optimizer.update()
        return [model.x.array, *model.x.update_rule.state.values()]
    finally:
        if found is not None:
            table[rule] = found


def assert_same_bits(name, array, **arguments):
    by_kernel = trained(name, array, **arguments)
    by_formula = trained(name, array, kernel=False, **arguments)
    for mine, theirs in zip(by_kernel, by_formula, strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=isinstance(mine, np.ndarray))
    assert not np.array_equal(by_kernel[0], array)


def large(dtype="f", shape=(LARGE,)):
    return np.random.default_rng(1).standard_normal(shape, "f").astype(dtype)


@pytest.mark.parametrize("name", [key.split(":")[1].removesuffix("Rule") for key in UPDATE])
def test_bits_are_those_of_the_formula(name):
    assert_same_bits(name, large())


@pytest.mark.parametrize(
    "arguments", [{"amsgrad": True, "adabound": True}, {"weight_decay_rate": 0.1, "eta": 0.5}]
)
def test_options_of_adam(arguments):
    assert_same_bits("Adam", large(), **arguments)


@pytest.mark.parametrize("dtype", ["f2", "f8"])
def test_dtypes_and_shapes(dtype):
    assert_same_bits("MomentumSGD", large(dtype, (1201, 14, 131)))


def test_a_gradient_in_another_order():
    param, grad = large(shape=(1000, 1301)), large(shape=(1301, 1000)).T
    rule = optimizers.SGD.rule()
    expected = param - rule.lr * grad
    assert blockwise(rule, np, param, grad) is None
    np.testing.assert_array_equal(param, expected)


def test_what_is_small_or_in_another_order_is_left_to_the_formula():
    rule = optimizers.SGD.rule()
    for param in (np.ones(3, "f"), np.ones(()), np.asfortranarray(large(shape=(1000, 1301)))):
        before = param.copy()
        assert blockwise(rule, np, param, np.ones_like(param)) is NotImplemented
        np.testing.assert_array_equal(param, before)


@pytest.mark.parametrize("key", UPDATE)
def test_a_subclass_sees_the_whole_array_unless_it_says_otherwise(key):
    """A step by somebody else, under our name or derived from ours, may need all elements."""
    rule = resolve(key)

    def step(self, xp, param, grad, **state):
        param += param.size

    def stepped(**body):
        other = type(rule.__name__, (rule,), {"__module__": __name__, "step": step, **body})
        parameter = core.Parameter(np.zeros(LARGE, "f"))
        parameter.grad = np.ones(LARGE, "f")
        parameter.update_rule = other()
        parameter.update()
        return set(np.unique(parameter.array).tolist())

    assert stepped() == {LARGE}
    assert LARGE not in stepped(kernels_of=rule)


def test_a_namesake_sees_the_whole_array():
    class SGDRule(core.UpdateRule):
        lr: float = 1.0

        def step(self, xp, param, grad):
            param -= self.lr * grad / xp.sqrt(xp.sum(grad * grad))

    parameter = core.Parameter(np.zeros(LARGE, "f"))
    parameter.grad = np.ones(LARGE, "f")
    parameter.update_rule = SGDRule()
    parameter.update()
    np.testing.assert_allclose(parameter.array, -1 / np.sqrt(LARGE), rtol=1e-5)
