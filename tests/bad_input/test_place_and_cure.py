"""What an error inside a model says beyond its operation: link, line, inputs, and what to write."""

import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core.arrays.backend import BackendError
from core.errors import InvalidType


class Block(core.Chain):
    def __init__(self, link):
        super().__init__()
        with self.init_scope():
            self.l1 = link

    def forward(self, x):
        return self.l1(x)  # the line in the block


class Model(core.Chain):
    def __init__(self, link):
        super().__init__()
        with self.init_scope():
            self.encoder = core.Sequential(F.identity, Block(link))

    def forward(self, x):
        return self.encoder(x)


def refused(call, *arguments):
    with pytest.raises(InvalidType) as caught:
        call(*arguments)
    return str(caught.value)


def part(text, name):
    found = re.search(f"^{name}: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else None


def ones(*shape, dtype="f"):
    return np.ones(shape, dtype)


@pytest.mark.parametrize("debug", [False, True])
def test_a_refusal_tells_link_line_and_inputs(debug):
    with core.using_config("debug", debug):
        text = refused(Model(L.Linear(3, 2)), ones(4, 3, dtype="d"))
    head, condition, place = text.strip().split("\n\n")
    assert head == "Invalid operation is performed in: LinearFunction (Forward)"
    assert condition == "Expect: x.dtype == b.dtype\nActual: float64 != float32"
    assert part(place, "Link") == "/encoder/0/l1 (Linear)"
    assert part(place, "Line").endswith("return self.l1(x)  # the line in the block")
    assert part(place, "Line").startswith(__file__)
    assert part(place, "Inputs") == "x (4, 3) float64, W (2, 3) float32, b (2,) float32"


def test_a_function_of_several_operations_tells_its_arguments():
    text = refused(lambda: F.bilinear(ones(2, 2), ones(3, 3), ones(2, 3, 4)))
    assert part(text, "Inputs") == "e1 (2, 2) float32, e2 (3, 3) float32, W (2, 3, 4) float32"
    assert part(text, "Link") is None
    assert "F.bilinear" in part(text, "Line")


def test_inputs_that_are_several_arrays_are_told_one_by_one():
    text = refused(lambda: F.concat([ones(2, 3), ones(2, 3, dtype="d")]))
    assert part(text, "Inputs") == "xs[0] (2, 3) float32, xs[1] (2, 3) float64"


def test_the_inputs_of_functions_that_take_any_number():
    text = refused(lambda: F.einsum("ij,jk", ones(2, 3), ones(4, 5)))
    assert part(text, "Inputs") == "operands[1] (2, 3) float32, operands[2] (4, 5) float32"


def test_of_many_inputs_the_first_are_told():
    text = refused(lambda: F.concat([ones(2, 3)] * 500 + [ones(2, 3, dtype="d")]))
    assert part(text, "Inputs").endswith("xs[11] (2, 3) float32, and 489 more")


def test_the_line_is_that_of_the_program_also_where_all_links_are_bundled(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(
        "import numpy as np, core, core.links as L\n"
        "model = L.Classifier(core.Sequential(L.Linear(3, 2)))\n"
        "optimizer = core.optimizers.SGD().setup(model)\n"
        "optimizer.update(model, np.ones((4, 3)), np.zeros(4, 'i'))  # here\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert part(done.stderr, "Line").startswith(f"{script}:4: optimizer.update(model")
    assert part(done.stderr, "Link") == "/predictor/0 (Linear)"


def test_the_path_of_a_link_in_a_method_of_another_name():
    class Encoder(Block):
        def encode(self, x):
            return self.l1.forward(x)

    text = refused(Encoder(L.Linear(3, 2)).encode, ones(4, 5))
    assert part(text, "Link") == "/l1 (Linear)"


def test_the_text_outlives_its_process():
    try:
        Model(L.Linear(3, 2))(ones(4, 3, dtype="d"))
    except InvalidType as error:
        sent = pickle.loads(pickle.dumps(error))
        assert str(sent) == str(error)
        assert sent.expect == error.expect and sent.operation == error.operation


def test_arrays_of_two_backends():
    there = core.backend.get("strict").asarray(ones(4, 3))
    with pytest.raises(BackendError) as caught:
        Model(L.Linear(3, 2))(there)
    assert "In link /encoder/0/l1 (Linear), at " in str(caught.value)
    assert str(caught.value).endswith("return self.l1(x)  # the line in the block")
    assert "In link" not in str(pytest.raises(BackendError, F.linear, there, ones(2, 3)).value)


def test_of_two_inputs_that_do_not_broadcast_none_is_taken_for_labels():
    text = refused(lambda: core.Variable(ones(2, 3)) + ones(2, 4))
    assert part(text, "Expect") == "x.shape and y.shape broadcast"
    assert part(text, "Cure") is None


def test_a_habit_of_both_inputs_is_told_once():
    text = refused(lambda: F.huber_loss(ones(4), ones(4), 1.0))
    cure = "write x[None] and t[None]: one example without its batch axis."
    assert part(text, "Cure") == cure


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.data())
def test_a_layer_over_the_last_axes_is_told_how_many_to_keep(shape, data):
    kept = data.draw(st.integers(1, len(shape) - 1))
    size, x = math.prod(shape[kept:]), ones(*shape)
    layer = L.Linear(size, 5)
    assert layer(x, n_batch_axes=kept).shape == (*shape[:kept], 5)
    if math.prod(shape[1:]) != size:
        text = refused(layer, x)
        assert part(text, "Actual") == f"{math.prod(shape[1:])} != {size}"
        meant = int(part(text, "Cure").removeprefix("write n_batch_axes=").partition(":")[0])
        assert layer(x, n_batch_axes=meant).shape[-1] == 5


class Fails(core.Link):
    def forward(self, x):
        raise OSError("no such device")


@pytest.mark.parametrize(
    ("link", "x", "what"),
    [
        (Fails(), ones(1), OSError),
        (L.EmbedID(3, 2), np.array([7]), IndexError),
    ],
)
def test_other_errors_carry_a_note(link, x, what):
    with pytest.raises(what) as caught:
        Model(link)(x)
    notes = caught.value.__notes__
    assert len(notes) == 1
    assert notes[0].startswith(f"In link /encoder/0/l1 ({type(link).__name__}), at {__file__}:")


@pytest.mark.parametrize(
    ("keywords", "meant"),
    [({"input": ones(1, 3)}, "'x'"), ({"x": ones(1, 3), "n_batch_axis": 1}, "'n_batch_axes'")],
)
def test_keywords_of_other_libraries_are_answered_with_ours(keywords, meant):
    with pytest.raises(TypeError, match="unexpected keyword") as caught:
        L.Linear(3, 2)(**keywords)
    (note,) = caught.value.__notes__
    assert note.startswith("In link / (Linear), at ") and note.endswith(f"Did you mean {meant}?")


# ------------------------------------------------------------------ cures

CLASSES = np.zeros(4, "i")
ONE_HOT = np.eye(3, dtype="i")[CLASSES]
CURES = {
    "float64 data": (L.Linear(3, 2), ones(4, 3, dtype="d")),
    "integers": (L.Linear(3, 2), ones(4, 3, dtype="i")),
    "pixels": (L.Convolution2D(1, 2, 3), ones(4, 1, 8, 8, dtype="u1")),
    "float64 images": (L.Convolution2D(3, 2, 3), ones(4, 3, 8, 8, dtype="d")),
    "no channel axis": (L.Convolution2D(1, 2, 3), ones(4, 8, 8)),
    "no channel axis, size open": (L.Convolution2D(None, 2, 3), ones(4, 8, 8)),
    "no axes of batch and channel": (L.Convolution2D(1, 2, 3), ones(8, 8)),
    "no batch axis": (L.Convolution2D(3, 2, 3), ones(3, 8, 8)),
    "no batch axis of vectors": (L.Linear(3, 2), ones(3)),
    "channels last": (L.Convolution2D(3, 2, 3), ones(4, 8, 8, 3)),
    "one with channels last": (L.Convolution2D(3, 2, 3), ones(8, 8, 3)),
    "pooling without channel axis": (lambda x: F.max_pooling_2d(x, 2), ones(4, 8, 8)),
    "deconvolution without batch axis": (L.Deconvolution2D(3, 2, 3), ones(3, 8, 8)),
    "labels as a column": (lambda t: F.softmax_cross_entropy(ones(4, 3), t), CLASSES[:, None]),
    "labels one-hot": (lambda t: F.softmax_cross_entropy(ones(4, 3), t), ONE_HOT),
    "labels of real numbers": (lambda t: F.softmax_cross_entropy(ones(4, 3), t), ones(4)),
    "names of classes": (lambda t: F.softmax_cross_entropy(ones(4, 3), t), np.array([*"abca"])),
    "truth values": (lambda t: F.sigmoid_cross_entropy(ones(4), t), np.array([True, False] * 2)),
    "objects": (L.Linear(3, 2), ones(4, 3, dtype=object)),
    "a column to accuracy": (lambda t: F.accuracy(ones(4, 3), t), CLASSES[:, None]),
    "one-hot to accuracy": (lambda t: F.accuracy(ones(4, 3), t), ones(4, 3)),
    "a column beside a row": (lambda x0: F.mean_squared_error(x0, ones(4)), ones(4, 1)),
    "float64 targets": (lambda x1: F.mean_squared_error(ones(4), x1), ones(4, dtype="d")),
    "rows of real numbers": (L.EmbedID(5, 2), ones(4)),
    "both habits": (L.Linear(3, 2), ones(3, dtype="d")),
    "swapped axes": (lambda b: F.matmul(ones(2, 3), b), ones(2, 3)),
    "swapped axes of weights": (lambda W: F.linear(ones(4, 3), W), ones(3, 2)),
    "a number for each row": (lambda y: core.Variable(ones(4, 3)) + y, ones(4)),
    "one example of float64": (L.Convolution2D(3, 2, 3), ones(3, 8, 8, dtype="d")),
    "recurrent": (L.LSTM(3, 2), ones(4, 3, dtype="d")),
}  # fmt: skip


@pytest.mark.parametrize("name", CURES)
def test_what_a_cure_says_to_write_works(name):
    call, value = CURES[name]
    advice = part(refused(call, value), "Cure")
    expression = re.match("write (.+?): [a-z]", advice).group(1)
    written = re.match(r"(?:numpy.unique\()?([A-Za-z0-9]+)", expression).group(1)
    assert call(eval(expression, {written: value, "numpy": np})).array is not None


def test_parameters_of_another_size():
    text = refused(L.Linear(3, 2), ones(4, 5))
    assert "the link was made for 3 along axis 1 of x, which has 5" in part(text, "Cure")
    text = refused(L.BatchNormalization(3), ones(4, 5))
    assert "made for 3 along axis 1 of x, which has 5" in part(text, "Cure")


@pytest.mark.parametrize(
    "link, name, x",
    [
        (L.Linear(3, 2), "W", ones(4, 3)),
        (L.Convolution2D(3, 2, 3), "W", ones(4, 3, 5, 5)),
        (L.BatchNormalization(3), "gamma", ones(4, 3)),
    ],
)
def test_parameters_that_have_come_apart_are_not_taken_for_those_of_another_size(link, name, x):
    parameter = getattr(link, name)
    shape = (3, 2, *parameter.shape[2:]) if name == "W" else (4,)
    parameter.array = np.ones(shape, "f")
    text = part(refused(link, x), "Cure")
    assert f"no input fits {name} of {parameter.shape} and b" in text
    assert f"Write {name}.array[...] = array" in text


def test_as_many_examples_as_features_may_be_chance():
    cure = part(refused(L.Linear(4, 2), ones(4, 3)), "Cure")
    assert cure.startswith("write x.T: its axes look swapped. Or the link was made for 4 along")
    assert "Give it 3 as the size of its input" in cure


def test_no_cure_where_nothing_helps():
    assert part(refused(lambda: F.reshape(ones(2, 3), (4, 2))), "Cure") is None
    assert part(refused(lambda: abs(core.Variable(np.ones((3, 3), "D")))), "Cure") is None
    assert part(refused(lambda: F.concat([ones(2, 3), ones(3, 3)])), "Cure") is None
    # What broadcasts would take these with one more axis; and no link was made for any size.
    assert part(refused(lambda: F.maximum(ones(8, 4), ones(3, 4))), "Cure") is None
    assert part(refused(lambda: F.matmul(ones(8, 4), ones(7, 4))), "Cure").startswith("write b.T:")
    assert part(refused(lambda: F.matmul(ones(8, 4), ones(7, 5))), "Cure") is None


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.squeeze(0),
        lambda x: F.squeeze(x, (0, 1)),
        lambda x: x.sum(2),
        lambda x: F.max(x, axis=2),
        lambda x: F.swapaxes(x, 0, 2),
        lambda x: F.softmax(x, axis=2),
        lambda x: F.transpose(x, (0, 2, 1)),
        lambda x: F.concat([x, x], axis=2),
    ],
)
def test_an_axis_that_is_named_makes_nobody_add_others(call):
    """It is the axis that is wrong, not the shape."""
    assert part(refused(call, core.Variable(ones(3, 4))), "Cure") is None


def test_where_no_axis_is_named_that_of_the_batch_may_be_missing():
    assert part(refused(F.softmax, ones(3)), "Cure").startswith("write x[None]: one example")


def test_none_in_the_place_of_an_array_is_not_taken_for_a_parameter():
    with pytest.raises(
        core.errors.UnknownName, match="made of None, which a function without `return`"
    ):
        L.Linear(3, 2)(None)
    with pytest.raises(core.errors.UnknownName, match="Give its link an input first, or its shape"):
        len(L.Linear(None, 2).W.shape)


@given(
    shape=st.lists(st.integers(1, 4), max_size=5),
    dtype=st.sampled_from(["f4", "f8", "i4", "u1", "?"]),
    link=st.sampled_from([L.Linear(3, 2), L.Convolution2D(3, 2, 1), L.BatchNormalization(3)]),
)
def test_every_refusal_can_be_told(shape, dtype, link):
    try:
        link(np.ones(shape, dtype))
    except InvalidType as error:
        text = str(error)
        assert part(text, "Link") == f"/ ({type(link).__name__})"
        flattened = isinstance(link, L.Linear) and len(shape) > 2  # one row an example
        if flattened and "n_batch_axes" not in text:
            shape = [shape[0], int(np.prod(shape[1:]))]
        assert f"{tuple(shape)} {np.dtype(dtype).name}" in part(text, "Inputs")


def test_lists_of_arrays():
    with pytest.raises(TypeError, match=r"got list.*numpy.stack"):
        L.Linear(3, 2)([ones(3), ones(3)])
    with pytest.raises(TypeError, match=r"got list.*numpy.asarray"):
        F.relu([1.0, 2.0])


def test_the_line_of_a_setting_of_a_wrong_kind_is_the_user_s():
    class Net(core.Chain):
        def forward(self, x):
            return F.ELU(alpha="x").apply((x,))  # this line

    with pytest.raises(core.errors.InvalidSetting) as caught:
        Net()(np.ones((2, 3), "f"))
    assert any("# this line" in note for note in caught.value.__notes__)


class Along(core.FunctionNode):
    along: int = 0
    domain = core.Domain(
        "(...)->(...)", x=core.real(-1, 1), settings={"along": core.axes("x")}, valid="x.ndim == 3"
    )

    def compute(self, xp, x):
        return x


def test_who_names_an_axis_is_told_of_no_other_shape():
    """Whatever the setting is called that names it."""
    cure = "Cure:"
    assert cure in refused(lambda: Along.call(ones(2, 3)))
    assert cure not in refused(lambda: Along.call(ones(2, 3), along=1))
