"""What the walk over the ops does not reach: functions that are made of ops, and refusals."""

import numpy as np
import pytest
from refusals import refused_in_three_parts

import core
import core.functions as F
from core import Domain, Variable
from core.errors import InvalidType, OutOfRange
from core.testing.gradient_check import check_backward

X = np.arange(24, dtype="float64").reshape(2, 3, 4)
V = np.array([1.0, 2.0, 3.0])


def same(actual, expected):
    np.testing.assert_array_equal(actual.array, expected)


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack"])
@pytest.mark.parametrize("x", [np.array(3.0), V, X[0], X])
def test_stacks_are_numpys(name, x):
    same(getattr(F, name)([x, x]), getattr(np, name)([x, x]))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("swapaxes", (0, -1)),
        ("rollaxis", (2,)),
        ("rollaxis", (0, 3)),
        ("rollaxis", (-1, 1)),
        ("rollaxis", (0, 2)),
        ("moveaxis", (0, -1)),
        ("moveaxis", ((0, 2), (1, 0))),
        ("moveaxis", ((0, 1, 2), (2, 0, 1))),
        ("transpose", ((1, 2, 0),)),
        ("repeat", (2,)),
        ("repeat", (3, 1)),
        ("repeat", ((1, 0, 2), 1)),
        ("repeat", (0, -1)),
        ("expand_dims", (-2,)),
        ("tile", (2,)),
    ],
)
def test_moved_axes_and_repetitions_are_numpys(name, arguments):
    same(getattr(F, name)(X, *arguments), getattr(np, name)(X, *arguments))
    y = getattr(F, name)(X, *arguments)
    check_backward(
        lambda x: getattr(F, name)(x, *arguments), X, np.random.default_rng(0).normal(size=y.shape)
    )


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 2, 1), (0, 2, 2, 2)])
def test_pixels_of_channels_that_lie_together(shape, r):
    n, c, h, w = shape
    y = np.arange(n * c * h * w * r * r, dtype="f").reshape(n, c, h * r, w * r)
    x = np.empty((n, c * r * r, h, w), "f")
    for k, i, j in np.ndindex(c, r, r):
        x[:, k * r * r + i * r + j] = y[:, k, i::r, j::r]
    same(F.pixel_shuffle(x, r), y)
    same(F.pixel_unshuffle(y, r), x)
    if n:
        check_backward(lambda x: F.pixel_shuffle(x, r), x.astype("d"), y.astype("d"))


@pytest.mark.parametrize(
    ("turn", "shape"),
    [
        (F.pixel_shuffle, (1, 6, 2, 2)),
        (F.pixel_shuffle, (4, 2, 2)),
        (F.pixel_unshuffle, (1, 1, 3, 2)),
        (F.pixel_unshuffle, (1, 1, 2, 3)),
        (F.pixel_unshuffle, (1, 2, 2)),
    ],
)
def test_channels_and_pixels_that_make_no_blocks(turn, shape):
    refused_in_three_parts(lambda: turn(np.ones(shape), 2))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [2, (1, 2), ((0, 1), (2, 0)), [(3, 5), (4, 4)]])
def test_padding_is_numpys(mode, width):
    x = X[0]
    same(F.pad(x, width, mode), np.pad(x, width, mode))
    g = np.random.default_rng(0).normal(size=np.pad(x, width, mode).shape)
    check_backward(lambda x: F.pad(x, width, mode), x, g)


def test_padding_with_a_constant_for_each_side():
    options = {"constant_values": ((1, 2), (3, 4))}
    same(F.pad(V[None], 1, "constant", **options), np.pad(V[None], 1, "constant", **options))


def test_padding_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="Did you mean 'reflect'"):
        F.pad(V, 1, "reflct")
    with pytest.raises(ValueError, match="at least 0"):
        F.pad(V, -1, "constant")
    with pytest.raises(TypeError, match="'constant_values'"):
        F.pad(V, 1, "edge", constant_values=3)
    with pytest.raises(ValueError, match="expected pad_width to be 1 pairs"):
        F.pad(V, ((1, 1), (1, 1)), "constant")


def test_split_axis_gives_a_tuple_unless_told_otherwise():
    assert isinstance(F.split_axis(X, 1, 0), tuple)
    assert isinstance(F.split_axis(X, 1, 0, force_tuple=False), Variable)
    for cuts in (3, [1, 2], np.array([1, 1]), [], [-2], [-3, -1]):
        parts = F.split_axis(X, cuts, 1)
        for part, expected in zip(parts, np.split(X, cuts, 1), strict=True):
            same(part, expected)


def test_cuts_from_the_end_have_gradients():
    x = Variable(X.copy())
    F.sum(F.split_axis(x, [-1], 1)[0]).backward()
    assert x.grad[:, :, 0].tolist() == [[1, 1, 0], [1, 1, 0]]


def test_split_axis_with_some_parts_unused():
    x = Variable(X.copy())
    first, _, third = F.split_axis(x, 3, 1)
    F.sum(first * 2 + third).backward()
    expected = np.zeros_like(X)
    expected[:, 0], expected[:, 2] = 2, 1
    np.testing.assert_array_equal(x.grad, expected)


@pytest.mark.parametrize("condition", [True, False, np.bool_(True), V.max() > 9])
def test_where_takes_a_single_truth_value(condition):
    x = Variable(V.copy())
    y = F.where(condition, x, 2.0)
    same(y, np.where(condition, V, 2.0))
    F.sum(y).backward()
    np.testing.assert_array_equal(x.grad, np.full(3, condition, "d"))


def test_separate_and_transpose_sequence():
    for part, expected in zip(F.separate(X, axis=-1), np.moveaxis(X, -1, 0), strict=True):
        same(part, expected)
    assert F.separate(np.zeros((0, 3))) == ()
    x = Variable(X)
    first, *_, last = F.separate(x, axis=1)
    assert first.creator.inputs[0] is x.node and first.creator is last.creator
    xs = [Variable(np.arange(float(n))) for n in (3, 3, 1)]
    steps = F.transpose_sequence(xs)
    assert [s.array.tolist() for s in steps] == [[0, 0, 0], [1, 1], [2, 2]]
    F.sum(steps[1] * np.array([5.0, 7.0])).backward()
    assert [x.grad.tolist() for x in xs] == [[0, 5, 0], [0, 7, 0], [0]]
    assert F.transpose_sequence([]) == ()


def test_broadcast_gives_a_common_shape():
    x, y, z = F.broadcast(X, V[:, None], np.array(1.0))
    assert x.shape == y.shape == z.shape == X.shape
    same(y, np.broadcast_to(V[:, None], X.shape))


def test_copies_cross_backends_and_their_gradients_come_back():
    x = Variable(V.copy())
    y = F.copy(x, "strict:0")
    assert (y.backend.name, x.backend.name) == ("strict", "numpy")
    F.sum(y * y).backward()
    np.testing.assert_array_equal(x.grad, 2 * V)
    z = F.copy(x, -1)
    assert z.array is not x.array
    same(z, V)


def test_cast_and_squeeze_change_nothing_needlessly():
    x = Variable(V)
    assert F.cast(x, "float64") is x
    assert F.cast(x, np.float32).dtype == np.float32
    assert F.squeeze(X[None, :, None]).shape == X.shape
    assert F.flatten(X).shape == (24,)


def test_get_item_sums_over_repeated_places():
    x = Variable(V.copy())
    F.sum(F.get_item(x, [0, 0, 2])).backward()
    assert x.grad.tolist() == [2, 0, 1]


def test_permutations_undo_themselves():
    order = np.array([2, 0, 1])
    y = F.permutate(V, order)
    same(F.permutate(y, order, inv=True), V)
    with core.using_config("debug", True), pytest.raises(ValueError, match="each of 0 to 2 once"):
        F.permutate(V, np.array([0, 0, 1]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.concat([X, V]), "shape"),
        (lambda: F.concat([X, X[:, :2]], axis=0), "shape"),
        (lambda: F.concat([V, V], axis=1), "ndim"),
        (lambda: F.stack([X, X[:1]]), "shape"),
        (lambda: F.stack([V, V], axis=2), "ndim"),
        (lambda: F.split_axis(X, 2, 1), "Expect: "),
        (lambda: F.split_axis(X, [9], 1), "Expect: "),
        (lambda: F.split_axis(X, [-4], 1), "Expect: "),
        (lambda: F.split_axis(X, [2, -2], 1), "do not fall"),
        (lambda: F.split_axis(X, 0, 1), "at least 1 section"),
        (lambda: F.split_axis(X, -3, 1), "at least 1 section"),
        (lambda: F.pad_sequence([np.arange(2), np.arange(1)], padding=0.5), "int64 can hold"),
        (lambda: F.pad_sequence([np.arange(2), np.arange(1)], padding=np.nan), "int64 can hold"),
        (lambda: F.pad_sequence([X > 0, X > 1], padding=-1), "bool can hold"),
        (lambda: F.pad_sequence([np.zeros(1, "uint8")], padding=-1), "uint8 can hold"),
        (lambda: F.swapaxes(X, 0, 3), "ndim > 3"),
        (lambda: F.rollaxis(X, 0, 9), "ndim > 9"),
        (lambda: F.expand_dims(X, 5), "ndim"),
        (lambda: F.squeeze(X, 0), "Expect: "),
        (lambda: F.broadcast(X, V), "broadcast"),
        (lambda: F.broadcast_to(X, (2, 3)), "ndim"),
        (lambda: F.select_item(X[0], np.array([0])), "shape"),
        (lambda: F.select_item(X[0], V), "t.dtype is integral"),
        (lambda: F.reshape(X, (5, 5)), "size"),
        (lambda: F.fliplr(V), "ndim"),
        (lambda: F.where(1.0, V, V), "condition.dtype is bool"),
    ],
)
def test_ill_fitting_input_is_refused_in_three_parts(call, message):
    refused_in_three_parts(call, message)


def test_empty_sequences_are_refused():
    for name in ("concat", "stack", "hstack", "vstack", "dstack"):
        with pytest.raises(TypeError, match=f"{name}: expected at least one array"):
            getattr(F, name)([])
    with pytest.raises(TypeError, match="got int"):
        F.concat(3)


@pytest.mark.parametrize(
    "function",
    [F.concat, F.stack, F.hstack, F.vstack, F.dstack, F.pad_sequence, F.transpose_sequence],
)
def test_sequences_are_any_iterables(function):
    """Generators, dicts' values, and one array, whose rows they are, with its gradient."""
    x = core.Variable(np.arange(12.0).reshape(2, 2, 3))
    expected = function([x[0], x[1]])
    for xs in ((row for row in x), dict(enumerate(x)).values(), x, x.array):
        found = function(xs)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one.array, other.array)
    (gradient,) = core.grad([F.sum(F.stack(function(x)) ** 2)], [x])
    np.testing.assert_allclose(gradient.array, 2 * x.array)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_casts_to_what_has_no_derivative_lead_nowhere(dtype):
    x = core.Variable(np.array([0.5, 1.5], "f"))
    assert not F.cast(x, dtype).requires_grad
    (gradient,) = core.grad([F.sum(F.cast(F.cast(x, dtype), "float32") * x)], [x])
    np.testing.assert_array_equal(gradient.array, x.array.astype(dtype))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_casts_of_what_has_no_derivative_lead_nowhere(dtype):
    x, w = Variable(np.ones(3, dtype)), Variable(np.full(3, 0.5))
    F.sum(F.cast(x, "float64") * w).backward()
    assert x.grad is None and w.grad.tolist() == [1, 1, 1]  # halves were rounded to zeros
    with pytest.raises(core.errors.NotDifferentiable, match=f"Cast from {dtype} has no"):
        F.cast(x, "float32").backward()
    constant = Variable(x.array, requires_grad=False)
    with pytest.raises(core.errors.GraphError, match="needs no gradient"):
        F.cast(constant, "float32").backward()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "uint64"])
def test_one_hot_of_labels_of_any_integer_dtype(dtype):
    labels = np.array([[200, 0], [7, 299 % 256]], dtype)
    y = F.one_hot(labels, 300)
    assert (y.shape, y.dtype, y.requires_grad) == ((2, 2, 300), core.config.dtype, False)
    same(y, np.eye(300)[labels.astype(int)])
    with core.using_config("dtype", "float64"):
        assert F.one_hot(labels, 300, axis=1).dtype == "float64"
        assert F.one_hot(labels, 300, dtype="int32").dtype == "int32"


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "3", None])
def test_one_hot_needs_a_number_of_classes(wrong):
    with pytest.raises(ValueError, match="one_hot: expected num_classes "):
        F.one_hot(np.array([0]), wrong)


def test_one_hot_refuses_labels_that_are_no_class():
    for label in (3, -1):
        with pytest.raises(OutOfRange, match=rf"OneHot: expected x in \[0, 3\), got {label}"):
            F.one_hot(np.array([0, label]), 3)


def test_a_split_remembers_what_fits_and_refuses_again_what_does_not(monkeypatch):
    checked = []
    check = Domain.check_shapes
    monkeypatch.setattr(
        Domain, "check_shapes", lambda *args: checked.append(args[2]) or check(*args)
    )
    x = np.zeros((2, 47), "f")
    for _ in range(3):
        assert [y.shape[1] for y in F.split_axis(x, [1, 3], 1)] == [1, 2, 44]
    assert len(checked) == 1
    for other in (x.astype("d"), np.zeros((3, 47), "f")):
        assert len(F.split_axis(other, [1, 3], 1)) == 3
    assert len(F.split_axis(x, [2, 3], 1)) == 3
    assert len(checked) == 4
    for _ in range(2):
        with pytest.raises(InvalidType, match=r"x.shape\[1\] % 3 == 0"):
            F.split_axis(x, 3, 1)
