"""A declared class that contradicts itself is refused while it is being made."""

import numpy as np
import pytest

import core
from core.errors import DeclarationError


def test_a_rule_that_asks_for_an_unknown_name():
    with pytest.raises(DeclarationError, match=r"argument 'w' is none of x, out, wanted"):

        class Wrong(core.Elementwise):
            def compute(self, xp, x):
                return x

            def gradient(self, xp, g, w):
                return g * w


def test_a_rule_for_an_input_that_compute_lacks():
    with pytest.raises(DeclarationError, match=r"compute has no input 'z'; it has x, y"):

        class Wrong(core.Elementwise):
            def compute(self, xp, x, y):
                return x * y

            def gradient_z(self, xp, g):
                return g


def test_both_kinds_of_rules():
    with pytest.raises(DeclarationError, match="found both"):

        class Wrong(core.Elementwise):
            def compute(self, xp, x, y):
                return x * y

            def gradient(self, xp, g, x, y):
                return g * y, g * x

            def gradient_x(self, xp, g, y):
                return g * y


@pytest.mark.parametrize("name", ["data", "inputs", "spec", "label"])
def test_a_setting_that_hides_what_nodes_have(name):
    with pytest.raises(DeclarationError, match=f"'{name}' is what every function node has"):
        type(
            "Wrong",
            (core.Elementwise,),
            {
                "__annotations__": {name: float},
                "compute": lambda self, xp, x: x,
                "gradient": lambda self, xp, g: g,
            },
        )


def test_a_private_method_that_replaces_one_of_the_engine():
    with pytest.raises(DeclarationError, match="Wrong._forward would replace"):

        class Wrong(core.Elementwise):
            def compute(self, xp, x):
                return self._forward(x)

            def _forward(self, x):
                return x

            def gradient(self, xp, g):
                return g


def test_a_rule_that_gives_too_few_gradients_is_named():
    class Short(core.Elementwise):
        def compute(self, xp, x, y):
            return x * y

        def gradient(self, xp, g, x, y):
            return (g * y,)

    x = core.Variable(core.backend.get("numpy").asarray([1.0, 2.0]))
    z = Short.call(x, x)
    z.grad = x.array
    with pytest.raises(ValueError, match="Short.gradient: expected 2 gradients.*got 1"):
        z.backward()
    assert x.grad is None


def test_a_saved_scalar_of_a_library_is_an_array_to_rules_on_variables():
    class Masked(core.FunctionNode):
        saved = ("mask",)

        def compute(self, xp, x):
            self.mask = xp.logical_not(x < 0)  # NumPy makes a scalar of it
            return xp.where(self.mask, x * x, x)

        def gradient(self, xp, g, x, mask):
            return xp.where(mask, 2 * x * g, g)

    x = core.Variable(np.array(3.0))
    (gx,) = core.grad([Masked.call(x)], [x], enable_double_backprop=True)
    (ggx,) = core.grad([gx], [x])
    assert (float(gx), float(ggx)) == (6, 2)
