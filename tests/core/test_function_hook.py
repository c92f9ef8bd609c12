"""Function hooks: when they are called, with what, and how slips are refused."""

import threading

import numpy as np
import pytest

import core
from core.errors import DeclarationError, HookError
from core.functions import Multiply
from plugins.functions.math.product import MatMul


class Recorder(core.FunctionHook):
    name = "Recorder"

    def __init__(self):
        self.calls = []

    def added(self, function=None):
        self.calls.append(("added", function))

    def deleted(self, function=None):
        self.calls.append(("deleted", function))

    def forward_preprocess(self, function, in_data):
        self.calls.append(("before forward", function.label, in_data))

    def forward_postprocess(self, function, in_data):
        self.calls.append(("after forward", function.label, in_data))

    def backward_preprocess(self, function, in_data, out_grad):
        self.calls.append(("before backward", function.label, in_data, out_grad))

    def backward_postprocess(self, function, in_data, out_grad):
        self.calls.append(("after backward", function.label, in_data, out_grad))

    def kinds(self):
        return [call[0] for call in self.calls]


class Halve(core.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((1,))
        return (inputs[0] * 0.5,)

    def backward(self, indexes, grad_outputs):
        return tuple(grad_outputs[0] * 0.5 if i == 0 else None for i in indexes)


def variable(*values):
    return core.Variable(np.array(values, "f"))


ALL = ["before forward", "after forward", "before backward", "after backward"]


def test_a_hook_sees_every_function_of_its_block():
    x, hook = variable(1, 2), Recorder()
    x * x
    with hook as entered:
        y = x * 3
        y.grad = np.ones(2, "f")
        y.backward()
    x * x
    assert entered is hook
    assert hook.kinds() == ["added", *ALL, "deleted"]
    assert hook.calls[0] == ("added", None)
    assert hook.calls[-1] == ("deleted", None)


def test_what_hooks_are_given():
    x, y, hook = variable(1), variable(2), Recorder()
    (z,) = Halve().apply((x, y))
    with hook:
        (z,) = Halve().apply((x, y))
        z.backward()
    before, after, back, done = [call for call in hook.calls if call[1] == "Halve"]
    for _, label, in_data in (before, after):
        assert label == "Halve"
        assert in_data[0] is x.array
        assert in_data[1] is y.array
    for _, label, in_data, out_grad in (back, done):
        assert label == "Halve"
        assert in_data[0] is None, "not retained"
        assert in_data[1] is y.array
        assert out_grad[0] == 1


def test_a_hook_of_one_function_sees_that_one_alone():
    x, hook = variable(1), Recorder()
    f = Halve()
    f.add_hook(hook)
    (y,) = f.apply((x, x))
    (z,) = Halve().apply((y, x))
    z.backward()
    assert hook.kinds() == ["added", *ALL]
    assert hook.calls[0] == ("added", f)
    f.delete_hook("Recorder")
    assert hook.calls[-1] == ("deleted", f)
    z.backward()
    assert len(hook.calls) == 6


def test_a_hook_may_be_added_to_a_declared_operation_after_the_call():
    x, hook = variable(1), Recorder()
    y = x * x
    y.creator.add_hook(hook, "mine")
    (y + 1).backward()
    assert hook.kinds() == ["added", "before backward", "after backward"]
    assert y.creator.local_function_hooks == {"mine": hook}
    np.testing.assert_array_equal(x.grad, [2])


@pytest.mark.parametrize("end", [core.functions.sum, lambda z: z])
@pytest.mark.parametrize(
    "op, dtype, shapes",
    [
        (Multiply, "f", [(2,), (2,)]),
        (Multiply, "f", [(3, 2), (2,)]),
        (MatMul, "float16", [(2, 2), (2, 2)]),
    ],
)
def test_a_hook_of_a_declared_operation_sees_its_backward_however_computed(op, dtype, shapes, end):
    """Also where inputs broadcast, 16-bit floats are computed in wider ones, or it is the last."""
    x, y = [core.Variable(np.ones(shape, dtype)) for shape in shapes]
    f, hook = op(), Recorder()
    f.add_hook(hook)
    (z,) = f.apply((x, y))
    y = end(z)
    y.grad = np.ones_like(y.array)
    y.backward()
    assert hook.kinds() == ["added", *ALL]


def test_a_hooked_operation_takes_numbers_and_keeps_what_it_keeps_without_hooks():
    x, f, hook = variable(1, 2), Multiply(), Recorder()
    f.add_hook(hook)
    (y,) = f.apply((x, 2))
    with Recorder():
        z = x * x
    assert y.creator is f and hook.kinds() == ["added", *ALL[:2]]
    for made, plain in ((y, x * variable(2, 2)), (z, x * x)):
        kept, expected = [[n.data for n in v.creator.inputs] for v in (made, plain)]
        assert [a is None for a in kept] == [a is None for a in expected]
        assert (made.creator.data is None) == (plain.creator.data is None)


def test_of_one_name_there_is_one_hook():
    first, second = Recorder(), Recorder()
    with first:
        with pytest.raises(HookError, match="no other hook named 'Recorder'.*another `name`"):
            second.__enter__()
        assert core.get_function_hooks() == {"Recorder": first}
    assert second.calls == []
    assert issubclass(HookError, KeyError)


def test_hooks_of_two_names_work_together_and_end_in_any_order():
    first, second = Recorder(), Recorder()
    second.name = "Second"
    first.__enter__()
    second.__enter__()
    assert core.get_function_hooks() == {"Recorder": first, "Second": second}
    first.__exit__(None, None, None)
    variable(1) * 2
    second.__exit__(None, None, None)
    assert core.get_function_hooks() == {}
    assert "before forward" not in first.kinds()
    assert "before forward" in second.kinds()


def test_a_hook_is_gone_after_an_exception():
    with pytest.raises(RuntimeError), Recorder():
        raise RuntimeError
    assert core.get_function_hooks() == {}


def test_a_hook_that_cannot_be_added_is_not_there():
    class Refusing(core.FunctionHook):
        name = "Refusing"

        def added(self, function=None):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        Refusing().__enter__()
    assert core.get_function_hooks() == {}


def test_hooks_are_of_one_thread():
    hook, seen = Recorder(), []

    def work():
        variable(1) * 2
        seen.append(core.get_function_hooks())

    with hook:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [{}]
    assert hook.kinds() == ["added", "deleted"]


def test_what_is_in_force_is_given_as_a_copy():
    core.get_function_hooks()["x"] = Recorder()
    assert core.get_function_hooks() == {}


def test_hooks_and_settings_do_not_disturb_each_other():
    hook = Recorder()
    with core.using_config("train", False), hook:
        assert core.config.train is False
        with core.using_config("train", True):
            variable(1) * 2
        assert core.get_function_hooks() == {"Recorder": hook}
    assert "before forward" in hook.kinds()


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("forward_preproces", "forward_preprocess"),
        ("forward_post_process", "forward_postprocess"),
        ("backward_prepocess", "backward_preprocess"),
        ("delete", "deleted"),
    ],
)
def test_a_misspelt_method_is_refused_when_the_class_is_created(slip, right):
    with pytest.raises(DeclarationError, match=f"got '{slip}'. Did you mean '{right}'"):
        type("Slip", (core.FunctionHook,), {slip: lambda self, function, in_data: None})


def test_helpers_of_their_own_names_are_welcome():
    class Own(Recorder):
        def summary(self):
            return len(self.calls)

        def kinds(self):
            return super().kinds()

        def _forward_process(self):
            pass

    assert Own().summary() == 0


def test_an_interrupted_forward_leaves_the_hook_in_order():
    class Failing(core.FunctionNode):
        def forward(self, inputs):
            raise RuntimeError("inside")

    hook = Recorder()
    with hook:
        with pytest.raises(RuntimeError, match="inside"):
            Failing().apply((variable(1),))
        variable(1) * 2
    assert hook.kinds() == ["added", "before forward", *ALL[:2], "deleted"]
