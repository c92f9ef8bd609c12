"""A declared class that contradicts itself is refused while it is being made."""

import contextlib
import keyword
import linecache
import operator
import re
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core import Elementwise, FunctionNode, Variable, real
from core.errors import DeclarationError, InvalidType
from core.functions import Multiply, ReLU
from core.graph.variable import wrap
from core.testing import check_op


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_number_of_inputs_is_refused_by_name(count):
    with pytest.raises(TypeError, match=f"Multiply: expected the inputs x, y, got {count} inputs"):
        Multiply().apply((np.ones(2),) * count)


def test_a_compute_that_lacks_the_namespace_or_an_input():
    for compute in (
        lambda self, x: x,
        lambda xp, x: x,
        lambda self, xp: xp,
        lambda self, x, y: x + y,
        lambda xp, x, y: x + y,
    ):
        with pytest.raises(DeclarationError, match=r"Mine.compute: expected \(self, xp, INPUT"):
            type("Mine", (Elementwise,), {"compute": compute})


@pytest.mark.parametrize("name", ["np", "jnp", "_xp", "_", "lib", "array_api", "backend", "math"])
def test_the_namespace_may_be_called_otherwise(name):
    made: dict[str, Any] = {}
    exec(f"def compute(self, {name}, x):\n    return x + x", made)
    mine = type("Mine", (Elementwise,), {"compute": made["compute"]})
    assert mine.call(np.ones(2, "f")).array.tolist() == [2, 2]


def test_a_rule_that_asks_for_an_unknown_name():
    with pytest.raises(DeclarationError, match=r"argument 'w' is none of x, out, needs_grad"):

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


def forgotten(self, xp, g):
    g * 2


def on_no_path(self, xp, g):
    if g.ndim:
        return
    for _ in range(2):
        g = g * 2
    return None


def refused(self, xp, g):
    raise NotImplementedError


def refused_at_the_end(self, xp, g):
    raise NotImplementedError from None


def on_some_path(self, xp, g):
    return g if g.ndim else None


@pytest.mark.parametrize("method", ["compute", "gradient", "gradient_x"])
@pytest.mark.parametrize("nothing", [forgotten, on_no_path])
def test_a_return_that_was_forgotten(method, nothing):
    methods = {"compute": lambda self, xp, x: x, method: nothing}
    with pytest.raises(DeclarationError, match=f"Wrong.{nothing.__name__}: expected to return"):
        type("Wrong", (FunctionNode,), methods)
    for fine in (refused, refused_at_the_end, on_some_path):
        assert type("Fine", (FunctionNode,), {**methods, method: fine}).declared


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (real(-2, 2), r"expected a Domain, such as Domain\(x=real\(-3, 3\)\), got Input"),
        ({"x": real(-2, 2)}, "expected a Domain, .*, got {'x'"),
        (
            core.Domain(y=real(-2, 2)),
            "expected the inputs .*, x, in this order; found y$",
        ),
        (core.Domain(x=real(0, 1), y=real(0, 1)), "expected the inputs .*, x, .*; found x, y$"),
    ],
)
def test_a_domain_that_is_none_or_of_other_inputs(domain, message):
    """Calls failed in the middle of the engine, or were held to another number of inputs."""
    methods = {"compute": lambda self, xp, x: x, "domain": domain}
    with pytest.raises(DeclarationError, match=f"Wrong.domain: {message}"):
        type("Wrong", (core.Elementwise,), methods)


def test_the_domain_of_a_base_class_may_call_inputs_otherwise():
    class Mine(ReLU):
        def compute(self, xp, z):
            return xp.maximum(z, xp.zeros_like(z))

    x = Variable(np.array([-1, 2], "f"))
    y = Mine.call(x)
    core.functions.sum(y).backward()
    assert (y.array.tolist(), x.grad.tolist()) == ([0, 2], [0, 1])
    check_op(Mine, lambda x: np.maximum(x, 0), ["numpy"])
    more = type("More", (Mine,), {"compute": lambda self, xp, z, y=None: z * 2})
    assert more.call(x).array.tolist() == [-2, 4]
    with pytest.raises(DeclarationError, match="inputs .*, x, z, .*; found x$"):
        type("Wrong", (ReLU,), {"compute": lambda self, xp, x, z: x + z})


def test_inputs_of_a_domain_have_names():
    with pytest.raises(DeclarationError, match="expected a signature as text, got Input.*by name"):
        core.Domain(real(-2, 2))


@pytest.mark.parametrize(
    "rule",
    [
        lambda self, g: g,
        lambda self, xp: xp,
        lambda self, g, xp: g,
        lambda self, g, x: g * x,
        lambda self, xp, out: out,
    ],
)
def test_a_gradient_rule_that_forgot_what_it_is_given(rule):
    """The namespace came as the cotangent, whose gradient was called one of objects."""
    for name in ("gradient", "gradient_x"):
        with pytest.raises(DeclarationError, match=r"Wrong.*: expected \(self, xp, g\) and then"):
            type("Wrong", (FunctionNode,), {"compute": lambda self, xp, x: x, name: rule})


@pytest.mark.parametrize("result", [[1.0], (1.0,), 2.0, "text", np.ones(5, "f"), np.ones(3)])
def test_an_elementwise_forward_that_gives_something_else(result):
    """It was a Variable of the shape and dtype that were expected, over whatever came."""

    class Wrong(core.Elementwise):
        def compute(self, xp, x):
            return result

    for _ in range(2):
        with pytest.raises(TypeError, match="Wrong.compute: expected to give"):
            Wrong.call(np.ones(3, "f"))


@pytest.mark.parametrize("name", ["data", "inputs", "spec", "label"])
def test_a_setting_that_hides_what_nodes_have(name):
    with pytest.raises(DeclarationError, match=f"'{name}' is a part of every function node"):
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
    with pytest.raises(DeclarationError, match="Wrong._forward hides the engine"):

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


def _texts_own_names():
    """Every name in the text that is generated for a class with a setting."""
    Scaled.ready_call()
    texts = ["".join(lines) for _, _, lines, name in linecache.cache.values() if OWN in name]
    assert len(texts) >= 5  # its constructor, and call, run, raw and var
    found = {name for text in texts for name in re.findall(r"[^\W\d]\w*", text)}
    return sorted(name for name in found if not keyword.iskeyword(name) and name != "slope")


OWN = f" of {__name__}.Scaled "


class Scaled(Elementwise):
    slope: float = 1.0

    def compute(self, xp, x):
        return x * self.slope

    def gradient(self, xp, g):
        return g * self.slope


@pytest.mark.parametrize("base", [Elementwise, FunctionNode])
def test_settings_may_be_called_as_the_generated_text_calls_things(base):
    """Each name either works, by name and by its default, or is refused when the class is made."""
    refused = []
    for name in [
        *_texts_own_names(),
        "value",
        "with_scalar",
        "self",
        "backend",
        "operand",
        "slope",
    ]:
        scope = {}
        exec(
            f"def compute(self, xp, x): return x * self.{name}\n"
            f"def gradient(self, xp, g): return g * self.{name}\n",
            scope,
        )
        body = {"__annotations__": {name: "float"}, name: 0.5, "__module__": __name__}
        body |= {method: scope[method] for method in ("compute", "gradient")}
        try:
            op = type("Op", (base,), body)
        except DeclarationError as error:
            assert "is a part of every function node" in str(error)
            refused.append(name)
            continue
        calls = {
            3.0: lambda x, op=op, name=name: op.call(x, **{name: 3.0}),
            0.5: lambda x, op=op: op.call(x),
            2.0: lambda x, op=op, name=name: op(**{name: 2.0}).apply((x,))[0],
            4.0: lambda x, op=op: op(4.0).apply((x,))[0],
        }
        for expected, call in calls.items():
            x = Variable(np.ones(2, "f"))
            y = call(x)
            y.grad = np.ones(2, "f")
            y.backward()
            assert y.array.tolist() == x.grad.tolist() == [expected] * 2, name
    assert {"self", "with_scalar", "backend"} <= set(refused) and len(refused) < 25
    assert not {"f", "cls", "new", "type", "x0", "value", "slope"} & set(refused)


def test_a_setting_called_value_takes_integers_as_it_will():
    class Halved(Elementwise):
        value: float = 0.5

        def compute(self, xp, x):
            return xp.astype(x * self.value, x.dtype)

    assert Halved.call(Variable(np.array([4, 5]))).array.tolist() == [2, 2]
    with pytest.raises(InvalidType, match="whole numbers beside int64"):
        Variable(np.array([4, 5])) * 0.5


@pytest.mark.parametrize("name", ["uint8", "int16", "int64"])
def test_numbers_beside_integers_are_in_their_range(name):
    ends = np.iinfo(name)
    x = Variable(np.array([0, 1], name))
    for number in (int(ends.min), int(ends.max)):
        assert ((x + number).dtype, (x >= ends.min).array.all()) == (name, True)
    for number in (int(ends.min) - 1, int(ends.max) + 1):
        for call in (operator.add, operator.sub, operator.mul, operator.lt, operator.floordiv):
            for operands in ((x, number), (number, x)):
                with pytest.raises(InvalidType, match=f"in its range beside {name}\nActual: "):
                    call(*operands)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "relu"])
def test_a_gradient_with_a_recorded_one_beside_it_is_one_node(name):
    x = Variable(np.array([0.5, 1.5]))
    y = getattr(core.functions, name)(x)
    (g,) = core.grad([y], [x], [Variable(np.ones(2))], enable_double_backprop=True)
    assert type(g.creator) is type(y.creator).recorded_gradient
    (raw,) = core.grad([y], [x], [Variable(np.ones(2))])
    assert g.array.tobytes() == raw.array.tobytes()


def test_who_writes_another_gradient_does_not_inherit_the_recorded_one():
    class Clipped(core.functions.tanh(Variable(np.ones(1))).creator.__class__):
        def gradient(self, xp, g, out):
            return g * 3.0

    x = Variable(np.ones(2))
    (g,) = core.grad([Clipped.call(x)], [x], [Variable(np.ones(2))], enable_double_backprop=True)
    np.testing.assert_array_equal(g.array, [3.0, 3.0])


@pytest.mark.parametrize("settings", [{}, {"pad": 1}])
def test_an_optional_input_may_be_none_or_left_out(settings):
    x, W = Variable(np.ones((1, 1, 3, 3))), Variable(np.ones((1, 1, 2, 2)))
    convolve = core.functions.convolution_2d(x, W).creator.__class__.call
    left_out, none = convolve(x, W, **settings), convolve(x, W, None, **settings)
    np.testing.assert_array_equal(left_out.array, none.array)
    assert len(none.creator.inputs) == 2


def test_without_gradients_a_one_line_operation_makes_no_node(monkeypatch):
    x, gone = Variable(np.ones(2)), []
    assert (x * x).creator is not None  # which also plans the operation, by a node that is dropped
    monkeypatch.setattr(Multiply, "__del__", lambda f: gone.append(f), raising=False)
    with core.no_backprop_mode():
        y = x * x
    assert y.creator is None
    assert not gone
    x * x
    assert len(gone) == 1


def test_the_names_of_outputs_go_on_under_what_they_were_called_at_first():
    class Halves(core.FunctionNode):
        outputs = ("left", "right")

        def compute(self, xp, x):
            return x[:1], x[1:]

    left, right = Halves.call(core.Variable(np.arange(3.0)))
    assert Halves.output_names == ("left", "right")
    assert (left.size, right.size) == (1, 2)


class Product(core.FunctionNode):
    """All inputs multiplied; its rule asks for everything that there is."""

    saved = ("halves",)

    def compute(self, xp, *xs):
        y = xs[0]
        for x in xs[1:]:
            y = y * x
        self.halves = y / 2
        return y

    def gradient(self, xp, g, xs, out, halves, needs_grad):
        return tuple(
            [
                g * (out + 2 * halves) / (2 * x) if n else None
                for x, n in zip(xs, needs_grad, strict=True)
            ]
        )

    def recompute_halves(self, xp, xs, out):
        return out / 2


@given(
    st.lists(st.sampled_from(["graded", "constant", "raw"]), min_size=1, max_size=70),
    st.booleans(),
    st.booleans(),
)
def test_repeated_inputs_of_any_number_have_one_text(kinds, hooked, applied):
    arrays = [np.array([1 + i % 3, 2.0]) for i in range(len(kinds))]
    made = {"graded": Variable, "constant": wrap, "raw": lambda x: x}
    xs = [made[kind](x) for kind, x in zip(kinds, arrays, strict=True)]
    graded = [x for x, kind in zip(xs, kinds, strict=True) if kind == "graded"]
    with core.function_hooks.TimerHook() if hooked else contextlib.nullcontext():
        y = Product().apply(xs)[0] if applied else Product.call(*xs)
        assert y.requires_grad is bool(graded)
        assert np.allclose(y.array, np.prod(arrays, axis=0))
        if graded:
            first = core.grad([y], graded, enable_double_backprop=True)
            for g, x in zip(first, graded, strict=True):
                assert np.allclose(g.array * x.array, y.array)
            (second,) = core.grad([first[-1]], [graded[0]])
            apart = first[-1].array / graded[0].array * (len(graded) > 1)
            assert np.allclose(second.array, apart)
            y.grad = np.ones(2)
            y.backward()
            assert np.allclose(graded[0].grad, first[0].array)
    own = f"<call of {__name__}.Product "  # there may be others of other tests
    texts = [name for name in linecache.cache if name.startswith(own)]
    assert len(texts) == len(Product._variants) == 1


def test_repeated_inputs_have_one_rule():
    with pytest.raises(
        DeclarationError, match="Sum: expected `gradient` .*, found repeated inputs"
    ):

        class Sum(core.FunctionNode):
            def compute(self, xp, *xs):
                return sum(xs)

            def gradient_xs(self, xp, g):
                return g


def test_operations_of_repeated_inputs_take_one_at_least():
    for call in (Product.call, Product()):
        with pytest.raises(TypeError, match="Product: expected the inputs xs, got 0 inputs"):
            call()


def test_thousands_of_inputs_take_no_text_of_their_own():
    xs = [Variable(np.full(1, float(i), "f")) for i in range(3000)]
    core.functions.sum(core.functions.stack(xs) * np.arange(3000, dtype="f")[:, None]).backward()
    assert [x.grad.item() for x in xs[::500]] == [0, 500, 1000, 1500, 2000, 2500]
    before = len(linecache.cache)
    for n in (2999, 1234, 77):  # lengths of sequences, which may be others in each step
        core.functions.sum(core.functions.stack(xs[:n])).backward()
    assert len(linecache.cache) == before


UNKNOWN_NAMES = """
import core, numpy
class Scaled(core.Elementwise):
    kind: Later
    rate: float = 2.0
    domain = core.Domain(x=core.real(-3, 3))
    def compute(self, xp, x: Later): return self.rate * x
    def gradient(self, xp, g): return self.rate * g
class Mine(core.optimizers.SGD):
    extra: Later
    def __init__(self, lr: Later = 0.1):
        super().__init__(lr)
        self.extra = 3
class Rule(core.UpdateRule):
    lr: float = 0.1
    kind: Later = 3
    def step(self, param: Later, grad: Later, state: Later): pass
class Thing(core.Link):
    other: Later
    def forward(self, x: Later): return x
made = Scaled(kind=1)(numpy.ones(2)), Mine().extra, Rule.hyperparameters, Thing()(3)
"""


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations without quotes are evaluated")
def test_annotations_may_name_what_only_type_checkers_know():
    scope = {"__name__": __name__}
    exec(compile(UNKNOWN_NAMES, "program", "exec", dont_inherit=True), scope)
    y, extra, hyperparameters, x = scope["made"]
    assert (y.array.tolist(), extra, {*hyperparameters}, x) == ([2, 2], 3, {"lr", "kind"}, 3)
    with pytest.raises(TypeError, match="expected rate to be a number"):
        scope["Scaled"](kind=1, rate="x")
