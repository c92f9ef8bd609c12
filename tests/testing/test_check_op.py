"""check_op, put to ops with one fault each: what it says, and that it says it."""

import subprocess
import sys

import numpy as np
import pytest

import core
from core import Domain, Elementwise, FunctionNode, anything, choice, real
from core.errors import DeclarationError
from core.testing import check_op, mutants


class Cube(Elementwise):
    """x^3, right in every way."""

    domain = Domain(x=real(-2, 2))

    def compute(self, xp, x):
        return x * x * x

    def gradient(self, xp, g, x):
        return g * (x * x) * 3.0


def cube(x):
    return np.power(x, 3)


def test_without_hypothesis_the_error_says_what_to_install():
    lacking = "import sys; sys.modules['hypothesis'] = None; import core.testing as it; "
    command = [sys.executable, "-c", lacking + "print(it.tolerance); it.check_op"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "function tolerance" in done.stdout
    assert "core.testing.check_op needs the library hypothesis" in done.stderr
    assert "`pip install hypothesis`" in done.stderr


@pytest.mark.parametrize("name", ["numpy", "strict"])
def test_a_right_op_passes_in_one_line(name):
    check_op(Cube, cube, [name])


@pytest.mark.parametrize(
    "ones",
    [
        lambda xp, x: xp.asarray(1.0, dtype=x.dtype),
        lambda xp, x: xp.ones(x.shape, dtype=x.dtype),
        lambda xp, x: xp.astype(xp.arange(1, x.ndim + 2)[0], x.dtype),
        lambda xp, x: xp.astype(xp.astype(x, xp.float64) - x + 1, x.dtype),
        lambda xp, x: 1 if xp.isdtype(x.dtype, "real floating") else 0,
    ],
    ids=["asarray", "ones", "arange", "float64", "isdtype"],
)
def test_a_rule_makes_arrays_and_names_dtypes_where_its_inputs_are(ones):
    """Also where its graph is recorded, and another backend is the current one."""

    class Made(Cube):
        saved = ("one",)

        def compute(self, xp, x):
            self.one = ones(xp, x)
            return x * x * x

        def recompute_one(self, xp, x):
            return ones(xp, x)

        def gradient(self, xp, g, x, one):
            return g * (x * x) * 3.0 * one * ones(xp, x)

    check_op(Made, cube, ["strict"])


def failure(op, reference=cube, backends=("numpy",), **options):
    with pytest.raises(Exception) as caught:
        check_op(op, reference, backends, **options)
    notes = caught.value.__notes__
    return str(caught.value), next(n for n in notes if n.startswith("check '")), notes


def test_a_failure_says_which_check_and_how_to_reproduce_it():
    class Off(Cube):
        def compute(self, xp, x):
            return x * x * x + 1e-3

    text, check, notes = failure(Off)
    assert "output 0 in float64" in text
    assert check == "check 'forward' of Off on numpy"
    snippet = next(n for n in notes if n.startswith("Reproduce"))
    assert "backend = core.backend.get('numpy')" in snippet and "Off().apply((x,))" in snippet


def test_a_forward_without_a_result_for_some_inputs():
    class Off(Cube):
        def compute(self, xp, x):
            return x * x * x if x.ndim > 100 else None

    assert "Off.compute: expected to give an array, got NoneType" in failure(Off)[0]


def test_the_snippet_runs():
    class Off(Cube):
        def compute(self, xp, x):
            return x * x * x + 1e-3

    *_, notes = failure(Off)
    snippet = next(n for n in notes if n.startswith("Reproduce")).split("\n")[1:]
    space = {"Off": Off}
    exec("\n".join(line for line in snippet if not line.startswith("from ")), space)
    assert type(space["x"]) is np.ndarray


def test_a_wrong_gradient():
    class Wrong(Cube):
        def gradient(self, xp, g, x):
            return g * (x * x) * 3.03

    text, check, _ = failure(Wrong)
    assert "does not fit the forward" in text and "'gradient'" in check


class Product(Elementwise):
    """x y, of which only x has a rule."""

    domain = Domain(x=real(-2, 2), y=real(-2, 2))

    def compute(self, xp, x, y):
        return x * y

    def gradient_x(self, xp, g, y):
        return g * y


def test_a_forgotten_rule():
    text, check, _ = failure(Product, np.multiply)
    assert "no gradient rule for y" in text and "Write gradient_y" in text
    assert "'gradient'" in check


def test_rules_that_are_left_out_and_inputs_that_need_none():
    class Left(Product):
        domain = Domain(
            x=real(-2, 2), y=real(-2, 2), leave_out={"gradient_y": "not differentiable"}
        )

    class Signed(Product):
        domain = Domain(x=real(-2, 2), y=real(-2, 2, kinks=[0]))

        def compute(self, xp, x, y):
            return x * xp.sign(y)

        def gradient_x(self, xp, g, y):
            return g * xp.sign(y)

    class Wrong(Product):
        domain = Domain(
            x=real(-2, 2), y=real(-2, 2), leave_out={"gradient_z": "not differentiable"}
        )

    check_op(Left, np.multiply, ["numpy"])
    check_op(Signed, lambda x, y: x * np.sign(y), ["numpy"])
    with pytest.raises(DeclarationError, match="no check 'gradient_z'. Did you mean 'gradient'"):
        check_op(Wrong, np.multiply)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_gradient_that_is_no_number_on_a_kink():
    class Magnitude(Elementwise):
        domain = Domain(x=real(-2, 2, kinks=[0]))

        def compute(self, xp, x):
            return xp.abs(x)

        def gradient(self, xp, g, x):
            return g * x / xp.abs(x)

    text, check, _ = failure(Magnitude, np.abs, examples=40)
    assert "gradient of x in float64: expected a number" in text and "'gradient'" in check


def test_a_gradient_whose_own_gradient_is_wrong():
    class Wrong(Cube):
        def gradient(self, xp, g, x):
            frozen = getattr(x, "array", x)
            return g * (x * frozen) * 3.0

    assert "'double_gradient'" in failure(Wrong)[1]


def test_a_gradient_that_is_wrong_with_one_wanted_input_only():
    class Product(Elementwise):
        domain = Domain(x=real(-2, 2), y=real(-2, 2))

        def compute(self, xp, x, y):
            return x * y

        def gradient(self, xp, g, x, y, needs_grad):
            return g * y if needs_grad[0] and needs_grad[1] else g * y * 2.0, g * x

    assert "'gradient'" in failure(Product, np.multiply)[1]


def test_a_changed_dtype():
    class Widening(Cube):
        def compute(self, xp, x):
            return xp.astype(x * x * x, xp.float64)

    text, *_ = failure(Widening, checks=["dtypes"])
    assert "Widening.compute: expected to give float32 of shape" in text


def test_a_changed_gradient_dtype():
    class Widening(Cube):
        def gradient(self, xp, g, x):
            return xp.astype(g * (x * x) * 3.0, xp.float64)

    text, *_ = failure(Widening, checks=["dtypes"])
    assert "gradient of x: expected float32, got float64" in text


def test_a_written_to_input():
    class Writing(Cube):
        def compute(self, xp, x):
            y = x * x * x
            x += 1
            return y

    text, check, _ = failure(Writing, checks=["mutation"])
    assert "the forward wrote into input x" in text


def test_a_written_to_cotangent():
    class Writing(Cube):
        def gradient(self, xp, g, x):
            result = g * (x * x) * 3.0
            g *= 2
            return result

    assert "the backward wrote into cotangent 0" in failure(Writing, checks=["mutation"])[0]


def test_a_written_to_input_that_is_put_back():
    class Writing(Cube):
        def compute(self, xp, x):
            x *= 2
            y = x * x * x / 8
            x /= 2
            return y

    text, check, _ = failure(Writing)
    assert "traced: Writing writes into input x" in text and "'traced'" in check


def test_an_array_kept_by_mistake():
    class Hoarding(Cube):
        def compute(self, xp, x):
            self.thing = x * 2
            return x * x * x

    text, check, _ = failure(Hoarding)
    assert "keeps an array as 'thing'" in text and "'retention'" in check


def test_an_input_kept_alive_without_being_named():
    kept = []

    class Hoarding(Cube):
        def compute(self, xp, x):
            kept[:] = [x]
            return x * x * x

        def gradient(self, xp, g, out):
            return g * (out * out) ** (1 / 3) * 3.0

    text, check, _ = failure(Hoarding, checks=["retention"])
    assert "input x is named by no gradient rule" in text


def test_a_result_that_is_no_array_of_the_backend():
    class Foreign(FunctionNode):
        left_out = {"traced": "depends on values"}  # numpy.asarray needs them
        domain = Domain("(n)->(n)", x=real(-2, 2), leave_out=left_out)

        def forward(self, inputs):
            self.retain_inputs((0,))
            return (np.asarray(inputs[0]) ** 3,)

        def backward(self, indexes, grad_outputs):
            (x,) = self.get_retained_inputs()
            return (grad_outputs[0] * x * x * 3.0,)

    check_op(Foreign, cube, ["numpy"])
    assert "'forward'" in failure(Foreign, backends=["strict"])[1]


def test_the_general_form_is_checked_as_well():
    class Wrong(FunctionNode):
        domain = Domain("(n)->(n)", x=real(-2, 2))

        def forward(self, inputs):
            self.retain_inputs((0,))
            return (inputs[0] ** 3,)

        def backward(self, indexes, grad_outputs):
            (x,) = self.get_retained_inputs()
            return (grad_outputs[0] * x * 3.0,)

    assert "'gradient'" in failure(Wrong)[1]


def test_a_layout_that_the_op_cannot_read():
    class Flat(FunctionNode):
        """Reads memory, not elements."""

        domain = Domain("(n,k)->(m)", x=real(-2, 2), leave_out={"forward": "random"})

        def compute(self, xp, x):
            return np.frombuffer(x.tobytes("A"), x.dtype) * 1.0

        def gradient(self, xp, g):
            return xp.reshape(g, self.inputs[0].shape)

    assert "'layouts'" in failure(Flat, None, checks=["layouts"])[1]


def test_an_op_that_fails_without_elements():
    class Greedy(FunctionNode):
        domain = Domain("(n,k)->(n)", x=real(-2, 2, distinct=True))

        def compute(self, xp, x):
            return xp.max(x, axis=1)

        def gradient(self, xp, g, x, out):
            return g[:, None] * xp.astype(x == out[:, None], x.dtype)

    def greatest(x):
        return np.array([max(row) for row in x.tolist()])

    assert "'empty'" in failure(Greedy, None, checks=["empty"])[1]
    Greedy.domain = Domain("(n,k)->(n)", x=real(-2, 2, distinct=True), empty=False)
    check_op(Greedy, greatest, ["numpy"], checks=["forward", "empty"])


def test_a_kernel_that_differs(monkeypatch):
    numpy = core.backend.get("numpy")
    check_op(Cube, cube, ["numpy"], checks=["kernels"])
    monkeypatch.setitem(numpy.kernels, Cube, lambda f, xp, x: x * x * x * 1.001)
    text, check, _ = failure(Cube, checks=["kernels"])
    assert "with the kernel" in text
    monkeypatch.setitem(numpy.kernels, Cube, lambda f, xp, x: NotImplemented)
    check_op(Cube, cube, ["numpy"])


def test_a_kernel_that_differs_is_found_though_it_leaves_few_elements_alone(monkeypatch):
    numpy = core.backend.get("numpy")

    def compute(f, xp, x):
        return x * x * x * 1.001

    def gradient(f, g, needs_grad):
        return (g * 3.003 * f._sources[0].data ** 2,)

    compute.least = gradient.least = 10**6
    for table, kernel in ((numpy.kernels, compute), (numpy.gradient_kernels, gradient)):
        with monkeypatch.context() as patch:
            patch.setitem(table, Cube, kernel)
            assert "with the kernel" in failure(Cube, checks=["kernels"])[0]
            assert table[Cube] is kernel


def test_a_backend_that_differs(monkeypatch):
    strict = core.backend.get("strict")
    monkeypatch.setitem(strict.kernels, Cube, lambda f, xp, x: x * x * x * 1.001)
    assert "against NumPy" in failure(Cube, backends=["strict"], checks=["backends"])[0]


def test_a_result_that_changes_from_run_to_run():
    calls = []

    class Fickle(Cube):
        def compute(self, xp, x):
            calls.append(1)
            return x * x * x * (1 if len(calls) % 2 else 1.0000001)

    assert "'repeat'" in failure(Fickle, None, checks=["repeat"])[1]


def test_random_ops_start_every_run_from_the_same_state():
    class Noise(Elementwise):
        domain = Domain(x=real(-2, 2), leave_out={"forward": "random", "backends": "random"})
        saved = ("noise",)

        def compute(self, xp, x):
            self.noise = self.backend.random.normal(x.shape, x.dtype)
            return x * self.noise

        def gradient(self, xp, g, noise):
            return g * noise

    before = core.backend.random_state()
    try:
        check_op(Noise, None, ["numpy", "strict"])
    finally:
        core.backend.set_random_state(before)


def test_kinks_that_nobody_declared_are_passed_over_but_wrong_gradients_are_not():
    class Ramp(Elementwise):
        domain = Domain(x=real(-2, 2))

        def compute(self, xp, x):
            return xp.maximum(x, xp.zeros_like(x))

        def gradient(self, xp, g, out):
            return xp.where(out > 0, g, xp.zeros_like(g))

    check_op(Ramp, lambda x: (x + np.abs(x)) / 2, ["numpy"])

    class Leaky(Ramp):
        def gradient(self, xp, g, out):
            return xp.where(out > 0, g, g * 0.01)

    assert "'gradient'" in failure(Leaky, lambda x: (x + np.abs(x)) / 2)[1]


def test_an_op_without_a_rule_has_to_say_why():
    class Sided(Elementwise):
        keeps_dtype = False
        domain = Domain(x=anything())

        def compute(self, xp, x):
            return x > 0

    text, *_ = failure(Sided, lambda x: x > 0)
    assert "no gradient rule for any input. Write one, or say why" in text
    reasons = {"gradient": "integer-valued"}
    Sided.domain = Domain(x=anything(), leave_out=reasons)
    check_op(Sided, lambda x: x > 0, ["numpy", "strict"])


def test_an_op_that_says_it_has_no_second_derivative_must_raise():
    class Claims(Cube):
        domain = Domain(x=real(-2, 2), leave_out={"double_gradient": "not differentiable"})

    assert "yet a second derivative came" in failure(Claims)[0]


def test_settings_reach_op_and_reference():
    class Scaled(Elementwise):
        factor: float = 1.0
        domain = Domain(x=real(-2, 2), settings={"factor": choice(2.0, 3.0)})

        def compute(self, xp, x):
            return x * self.factor

        def gradient(self, xp, g):
            return g * self.factor

    check_op(Scaled, lambda x, factor: x * factor, ["numpy"])
    assert "'forward'" in failure(Scaled, lambda x, factor: x * 2.0)[1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"checks": ["gradients"]}, DeclarationError, "Did you mean 'gradient'"),
        ({"kind": "elemntwise"}, ValueError, "no tolerances for ops of kind 'elemntwise'"),
        ({"backends": ["nunpy"]}, core.backend.BackendError, "numpy"),
    ],
)
def test_options_that_do_not_exist(options, error, message):
    with pytest.raises(error, match=message):
        check_op(Cube, cube, **options)


def test_mutants_have_one_fault_each():
    found = {mutant.fault: mutant for mutant in mutants(Cube)}
    assert set(found) == {
        "forward + 0.001",
        "another dtype",
        "a written-to input",
        "an input kept",
        "gradient x 1.01",
        "gradient without x",
    }
    assert all(issubclass(mutant.op, Cube) for mutant in found.values())
    check_op(Cube, cube, ["numpy"])


def test_the_room_is_loaded_only_when_asked_for():
    with pytest.raises(AttributeError, match="no attribute 'check_ops'"):
        core.testing.check_ops  # noqa: B018
    assert "check_op" in dir(core.testing)
