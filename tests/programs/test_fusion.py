"""Programs in loops: arithmetic keeps its bits, functions and sums are as near as is stated."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from backends.numpy_backend.kernels import compiler
from core.arrays.backend import host
from core.programs import Group, over
from core.programs.loops.masks import with_early_masks
from core.registry.threads import using_threads

pytestmark = pytest.mark.skipif(not compiler.available(), reason="loops need numba")
UNITS = 4  # in the last place, by which exp, expm1, log, log1p and tanh may be off


@pytest.fixture(autouse=True)
def worth_while(monkeypatch):
    """Let small arrays and short rows have loops too, and be written over."""
    from backends.numpy_backend import fusion

    monkeypatch.setattr(fusion, "CALL", 0)
    monkeypatch.setattr(fusion, "SHORT", 0)
    monkeypatch.setattr(over, "LEAST", 0)


def loops(program):
    return [e.call.function for e in program.equations if isinstance(e.call.function, Group)]


UNARY = [np.negative, np.abs, np.square, np.sqrt, np.sign, np.reciprocal]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum]
COMPARISONS = [np.less, np.greater_equal, np.equal, np.not_equal]


def arithmetic(draw_from, count):
    """A function of arrays that makes `count` random operations, each exactly rounded by NumPy."""

    def pick(values):
        return values[draw_from(st.integers(0, len(values) - 1))]

    plan = [
        (draw_from(st.integers(0, 6)), draw_from(st.integers(0, 99)), draw_from(st.integers(0, 99)))
        for _ in range(count)
    ]

    def function(*arrays):
        values, shape = list(arrays), np.broadcast_shapes(*[a.shape for a in arrays])
        for kind, i, j in plan:
            x, y = values[i % len(values)], values[j % len(values)]
            if kind == 0:
                made = UNARY[i % len(UNARY)](x)
            elif kind == 1:
                mask = COMPARISONS[i % len(COMPARISONS)](x, y)
                made = np.where(mask, x * 2, -y)
            elif kind == 2:
                made = np.clip(x, -1.5, 0.75) + y**2
            elif kind == 3:
                made = (x < y).astype(x.dtype) - y / 3
            elif kind == 4 and x.shape == shape:
                made = np.max(x, axis=-1, keepdims=True) - y
            else:
                made = BINARY[(i + j) % len(BINARY)](x, y)
            values.append(made)
        return values[len(arrays) :]

    return function


@settings(max_examples=8)
@given(data=st.data())
def test_arithmetic_has_the_bits_of_single_operations(data):
    draw = data.draw
    rows, columns = draw(st.sampled_from([(3, 37), (1, 5), (40, 1), (2, 16), (7, 130)]))
    shapes = [(rows, columns), (columns,), (rows, 1), (rows, columns), ()]
    dtype = draw(st.sampled_from(["f", "d"]))
    chosen = [shapes[0], *draw(st.lists(st.sampled_from(shapes), max_size=3))]
    random = np.random.default_rng(draw(st.integers(0, 99)))
    arrays = [np.asarray(random.normal(size=shape), dtype) for shape in chosen]
    arrays[0].flat[:3] = np.inf, np.nan, -0.0
    program = core.trace(arithmetic(draw, draw(st.integers(3, 20))), *arrays)
    fused = program.fused()
    assert len(loops(fused)) < len(program.equations)
    with np.errstate(all="ignore"):
        for found, again, expected in zip(
            fused(*arrays), fused(*arrays), program(*arrays), strict=True
        ):
            np.testing.assert_array_equal(found, expected, strict=True)
            assert found.tobytes() == again.tobytes()


def test_zeros_and_what_is_no_number_have_numpys_bits():
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -1.5], "f")
    x, y = (np.resize(each, (20, 343)) for each in (special, np.repeat(special, 7)))

    def function(x, y):
        made = [np.maximum(x, y), np.minimum(x, y), np.maximum(x, 0), np.minimum(0, x)]
        made += [np.clip(x, 0, 1), np.clip(x, -1, 0), np.sign(x), np.abs(x), np.where(x > y, x, y)]
        return [each * 1 for each in made]

    fused = core.trace(function, x, y).fused()
    assert len(loops(fused)) == 1
    for found, expected in zip(fused(x, y), function(x, y), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


NUMBERS = st.one_of(st.integers(-9, 9), st.floats(), st.booleans())


@settings(max_examples=8)
@given(st.lists(st.tuples(st.booleans(), NUMBERS), min_size=2, max_size=6), st.sampled_from("il?f"))
def test_numbers_beside_truths_are_true_unless_they_are_zero(calls, dtype):
    x = np.resize(np.array([0, 1, 2, -4, 6], dtype), (4, 35))

    def function(x):
        y = [(np.logical_and if both else np.logical_or)(number, x) for both, number in calls]
        return [
            *y,
            *[np.logical_or(each, 0.25) for each in y],
            *[np.where(each, x, 0) for each in y],
        ]

    fused = core.trace(function, x).fused()
    assert loops(fused)
    for found, expected in zip(fused(x), function(x), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


FUNCTIONS = {
    "exp": [(-110, 90), (-1e-3, 1e-3)],
    "expm1": [(-110, 88), (-1e-3, 1e-3)],
    "log": [(0, 1e-30), (0, 2), (0, 1e30)],
    "log1p": [(-1, 2), (-1e-3, 1e-3), (0, 1e30)],
    "tanh": [(-11, 11), (-1e-3, 1e-3)],
}


def test_functions_are_within_units_in_the_last_place():
    ranges = {name: FUNCTIONS[name] for name in FUNCTIONS}
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, 1e-310, 3e38]
    for dtype in ("f", "d"):
        arrays = [
            np.concatenate([special, *[np.linspace(*ends, 4001) for ends in ranges[name]]]).astype(
                dtype
            )
            for name in ranges
        ]

        def function(*arrays):
            return [getattr(np, n)(x * 1) * 1 for n, x in zip(ranges, arrays, strict=True)]

        with np.errstate(all="ignore"):
            fused = core.trace(function, *arrays).fused()
            assert len(loops(fused)) == len(ranges)
            for name, x, found in zip(ranges, arrays, fused(*arrays), strict=True):
                exact = getattr(np, name)(x.astype("longdouble"))
                expected = exact.astype(dtype)
                whole = np.isfinite(expected)
                np.testing.assert_array_equal(found[~whole], expected[~whole], err_msg=name)
                assert (np.signbit(found) == np.signbit(expected))[x == 0].all(), name
                off = np.abs(found[whole] - exact[whole]) / np.spacing(np.abs(expected[whole]))
                assert off.max() <= UNITS, (name, dtype, off.max(), x[whole][off.argmax()])


def softmax_and_back(x, w):
    v = core.Variable(x)
    y = F.softmax(F.gelu(v))
    return [y, *core.grad([F.sum(y * w)], [v])]


def normalized(x, gamma, beta):
    given = [core.Variable(v) for v in (x, gamma, beta)]
    y = F.layer_normalization(*given)
    return [y, *core.grad([F.sum(y * y)], given)]


def losses(x, y):
    v = core.Variable(x)
    error = F.mean_squared_error(v, y) + F.mean(F.huber_loss(v, y, 0.5, reduce="no"))
    return [error, F.max(v), F.logsumexp(v, axis=1), *core.grad([error], [v])]


R = np.random.default_rng(0)
PIECES = {
    "softmax": (softmax_and_back, [(5, 70), (5, 70)]),
    "layer normalization": (normalized, [(6, 45), (45,), (45,)]),
    "losses": (losses, [(9, 21), (9, 21)]),
}


@pytest.mark.parametrize("name", PIECES)
def test_pieces_are_a_few_loops_as_near_as_float64(name):
    function, shapes = PIECES[name]
    arrays = [R.normal(size=shape) for shape in shapes]
    narrow = [array.astype("f") for array in arrays]
    fused = core.trace(function, *narrow).fused()
    assert 1 <= len([group for group in loops(fused) if len(group.equations) > 1]) <= 4
    exact = core.trace(function, *arrays)(*[array.astype("d") for array in narrow])
    for found, again, expected in zip(fused(*narrow), fused(*narrow), exact, strict=True):
        scale = max(1, np.abs(expected.array).max())
        np.testing.assert_allclose(found.array, expected.array, rtol=2e-5, atol=2e-6 * scale)
        assert found.array.tobytes() == again.array.tobytes()
    text = str(fused)
    assert "loop of" in text and "gives" in text
    assert fused.cost().operations == core.trace(function, *narrow).cost().operations
    assert fused.cost().bytes < core.trace(function, *narrow).cost().bytes
    scope = {}
    exec(fused.source(), scope)
    for found, expected in zip(
        scope["program"](*narrow), core.trace(function, *narrow)(*narrow), strict=True
    ):
        assert found.tobytes() == expected.array.tobytes()


def test_sums_of_many_elements_are_nearer_than_numpys_own():
    x = R.normal(size=(700, 300)).astype("f") + 1
    program = core.trace(lambda x: [np.sum(x * 1, a) for a in (None, 1)], x).fused()
    whole, rows = program(x)
    assert whole.dtype == rows.dtype == np.float32
    np.testing.assert_allclose(whole, x.astype("d").sum(), rtol=1.2e-7)
    np.testing.assert_allclose(rows, x.astype("d").sum(1), rtol=1.2e-7)


def test_threads_give_the_bits_of_each_run():
    x, b = R.normal(size=(4000, 100)).astype("f"), R.normal(size=100).astype("f")

    def function(x, b):
        y = np.exp(x * b) - 1
        return [y, np.sum(y, axis=0), np.sum(y * y), np.max(y, axis=1, keepdims=True) - y]

    flat = x.reshape(-1)
    for arrays, call in (
        ((x, b), function),
        ((flat,), lambda x: [x * x + 1, np.mean(x * 2)]),
    ):
        program = core.trace(call, *arrays)
        fused = program.fused()
        assert len(loops(fused)) == 1
        with using_threads(1):
            alone = fused(*arrays)
        with using_threads(3):
            first, second = fused(*arrays), fused(*arrays)
        for found, again, expected, one in zip(first, second, program(*arrays), alone, strict=True):
            assert found.tobytes() == again.tobytes()
            np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-3)
            np.testing.assert_allclose(found, one, rtol=1e-5, atol=1e-4)


def test_a_step_of_training_in_loops():
    model = core.Sequential(L.Linear(6, 12), F.tanh, L.LayerNormalization(12), L.Linear(12, 3))
    other = model.copy("copy")
    x, t = R.normal(size=(8, 6)).astype("f"), R.integers(0, 3, 8).astype("i")
    steps = []
    for each in (model, other):
        optimizer = core.optimizers.RMSprop().setup(each)
        steps.append(
            core.trace(
                lambda x, t, o=optimizer, m=each: o.update(
                    lambda: F.softmax_cross_entropy(m(x), t)
                ),
                x,
                t,
            )
        )
    fused = steps[1].fused()
    assert len(fused.equations) < len(steps[1].equations) / 2
    for _ in range(5):
        steps[0](x, t)
        fused(x, t)
    for (path, one), (_, two) in zip(model.namedparams(), other.namedparams(), strict=True):
        np.testing.assert_allclose(one.array, two.array, rtol=1e-4, atol=1e-5, err_msg=path)


def test_arrays_as_they_lie():
    x = R.normal(size=(7, 40)).astype("f")
    program = core.trace(lambda x: np.exp(x) * 2 + x, x).fused()
    expected = program(x)
    raw = np.zeros(x.nbytes + 1, np.uint8)
    odd = np.frombuffer(raw.data, np.uint8)[1:].view(np.dtype("f")).reshape(x.shape)
    odd[...] = x
    backwards = np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
    read_only = x.copy()
    read_only.flags.writeable = False
    for one in (np.asfortranarray(x), odd, backwards, read_only):
        assert program(one).tobytes() == expected.tobytes()


def test_arrays_in_the_other_order_of_bytes_stay_out_of_loops():
    def function(x):
        return (x * 2 + x) * x, np.astype(x, np.float32) * 2 + 1

    x = R.normal(size=(7, 40)).astype("f")
    swapped = x.astype(x.dtype.newbyteorder())
    program = core.trace(function, swapped).fused()
    for found, expected in zip(program(swapped), function(x), strict=True):
        assert (found == expected).all()


def test_where_there_is_no_numba_a_program_stays_as_it_is(monkeypatch):
    from backends.numpy_backend.kernels import compiler

    program = core.trace(lambda x: np.exp(x) * 2 + x, R.normal(size=(7, 40)))
    monkeypatch.setattr(compiler, "available", lambda: False)
    assert program.fused() is program


def test_loops_are_compiled_for_a_structure_and_not_for_shapes():
    from backends.numpy_backend.kernels.fused_loops import loop_of

    def function(x, b):
        return np.tanh(x + b) * 0.5

    programs = [
        core.trace(function, np.ones((n, 5), "f"), np.ones(5, "f")).fused() for n in (3, 40)
    ]
    found = loop_of.cache_info()
    core.trace(lambda x, b: np.tanh(x + b) * 0.25, np.ones((9, 8), "f"), np.ones(8, "f")).fused()
    assert loop_of.cache_info().misses == found.misses
    assert [len(loops(program)) for program in programs] == [1, 1]


def test_a_captured_step_in_loops():
    x, t = R.normal(size=(8, 6)).astype("f"), R.integers(0, 3, 8).astype("i")
    model = core.Sequential(L.Linear(6, 12), F.tanh, L.LayerNormalization(12), L.Linear(12, 3))
    runs = []
    for fuse in (None, True, True):
        own = model.copy("copy")
        optimizer = core.optimizers.Adam().setup(own)

        def step(x, t, own=own, optimizer=optimizer):
            optimizer.update(lambda: F.softmax_cross_entropy(F.gelu(own(x)) * 2, t))
            return own.cleargrads()

        call = step if fuse is None else core.capture(fuse=fuse)(step)
        for i in range(6):
            call(x + i, t)
        if fuse is not None:
            assert call.replayed == 5 and loops(call.programs[0])
            told = f"  {len(loops(call.programs[0]))} loops of "
            assert told in call.report() and call.report().endswith(" s")
        runs.append([p.array for _, p in own.namedparams()])
    for eager, fused, again in zip(*runs, strict=True):
        np.testing.assert_allclose(fused, eager, rtol=1e-4, atol=1e-5)
        assert fused.tobytes() == again.tobytes()


def test_many_operations_on_few_elements_are_a_loop_and_few_are_not(monkeypatch):
    monkeypatch.undo()

    def function(x, count):
        for _ in range(count):
            x = x * 1.5 + 1
        return x

    x = np.ones(4, "f")
    many, few = (core.trace(lambda x, n=n: function(x, n), x).fused() for n in (20, 1))
    assert (len(loops(many)), len(loops(few))) == (1, 0)
    assert many(x).tobytes() == function(x, 20).tobytes()


def test_updaters_and_evaluators_take_captures_with_options():
    from core import iterators
    from core.training import extensions, updaters

    data = list(zip(R.normal(size=(8, 6)).astype("f"), [0, 1] * 4, strict=True))
    model = L.Classifier(core.Sequential(L.Linear(6, 12), F.gelu, L.Linear(12, 3)))
    optimizer = core.optimizers.SGD().setup(model)
    batches = iterators.SerialIterator(data, 4)
    updater = updaters.StandardUpdater(batches, optimizer, capture=core.capture(fuse=True))
    test = iterators.SerialIterator(data, 4, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(test, model, capture=core.capture(fuse=True))
    for _ in range(4):
        updater.update()
        evaluator()
    for each in (updater.captured, evaluator.captured):
        assert each.replayed >= 3
        assert loops(each.programs[0])


def test_what_is_read_before_an_update_is_not_read_after_it():
    x = R.normal(size=(8, 6)).astype("f")
    scale = R.normal(size=(4, 6)).astype("f")

    def made(fuse):
        model = L.Linear(6, 4, initialW=0.5)
        optimizer = core.optimizers.SGD(lr=0.01).setup(model)

        def step(x, scale):
            before = F.sum(F.exp(model.W * scale) + scale * 2, axis=1)
            optimizer.update(lambda: F.sum(model(x) ** 2))
            return before, F.sum(F.exp(model.W * scale) + scale * 2, axis=1)

        return core.capture(step, fuse=True) if fuse else step

    eager, captured = made(False), made(True)
    for i in range(4):
        for one, other in zip(captured(x, scale), eager(x, scale), strict=True):
            np.testing.assert_allclose(one.array, other.array, rtol=1e-5, err_msg=str(i))
    assert captured.replayed == 3 and loops(captured.programs[0])


def test_gradients_that_wait_to_be_added_up_stay_out_of_loops(monkeypatch):
    from backends.numpy_backend.kernels.compiled.products import linear

    for kernel in (linear.linear, linear.linear_gradient):
        monkeypatch.delattr(kernel, "in_loops")  # so that they are recorded, and may wait
    x = R.normal(size=(4, 512)).astype("f")
    start = (R.normal(size=(512, 512)) / 23).astype("f")

    def made(fuse):
        link = L.Linear(512, 512, initialW=start)

        def step(x):
            link.cleargrads()
            h = x
            for _ in range(3):
                h = F.tanh(link(h))
            F.mean(h * h).backward()
            return F.tanh(core.Variable(link.W.grad)) * 2

        return core.capture(step, fuse=True) if fuse else step

    eager, captured = made(False), made(True)
    with using_threads(1):
        for _ in range(3):
            np.testing.assert_allclose(captured(x).array, eager(x).array, rtol=1e-4, atol=1e-7)
    assert captured.replayed == 2
    read = {value for loop in loops(captured.programs[0]) for value in loop.inputs}
    waiting = {
        value
        for equation in captured.programs[0].equations
        for value in equation.outputs
        if value.waits
    }
    assert waiting and not waiting & read


def test_choices_and_their_conditions_are_within_loops():
    @core.capture(fuse=True)
    def step(x):
        x = core.Variable(x)
        y = F.sum(F.where(x.array > 0, x * x, x * 3) * 2)
        return core.grad([y], [x])[0].array

    x = np.linspace(-1, 1, 8192, dtype="f").reshape(64, 128)
    for _ in range(4):
        found = step(x)
    np.testing.assert_allclose(found, np.where(x > 0, 4 * x, 6), rtol=1e-6)
    (program,) = step.programs
    outside = [e.call.name for e in program.equations if not isinstance(e.call.function, Group)]
    assert not {"Where", "Where, backward", "gt"} & set(outside)


@given(
    shape=st.lists(st.integers(1, 6), min_size=2, max_size=4).map(lambda s: (*s, 37)),
    kept=st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=3),
)
def test_arrays_that_differ_along_any_axes_have_the_bits_of_single_operations(shape, kept):
    def function(x, *others):
        for other in others:
            x = np.maximum(x * other, other - x) + other
        return x

    arrays = [R.normal(size=shape).astype("f")]
    for along in kept:
        own = tuple([n if keep else 1 for n, keep in zip(shape, along, strict=False)])
        arrays.append(R.normal(size=own).astype("f"))
    program = core.trace(function, *arrays)
    assert program.fused()(*arrays).tobytes() == function(*arrays).tobytes()


def test_channels_of_images_are_within_one_loop():
    x, scale = np.ones((8, 16, 12, 12), "f"), np.ones((16, 1, 1), "f")
    program = core.trace(lambda x, a: np.maximum(x * a + a, 0) * a, x, scale).fused()
    assert len(loops(program)) == 1
    assert [e.call.name for e in program.equations] == ["broadcast_to", "loop"]


@st.composite
def seen_anew(draw):
    """A shape, and others in which its elements may be seen."""
    lengths = draw(st.lists(st.sampled_from([1, 2, 3, 5]), min_size=2, max_size=4))
    shapes = {tuple(lengths)}
    for _ in range(draw(st.integers(1, 3))):
        edges = sorted(draw(st.sets(st.integers(1, len(lengths) - 1))))
        parts, axes = pairwise([0, *edges, len(lengths)]), lengths
        if draw(st.booleans()):
            axes = lengths[::-1]  # which no shape may have beside the others
        shapes.add(tuple([int(np.prod(axes[i:j])) for i, j in parts]))
    return sorted(shapes)


@settings(max_examples=10)
@given(seen_anew(), st.data())
def test_arrays_that_are_seen_in_several_shapes_are_within_loops(shapes, data):
    plan = data.draw(
        st.lists(st.tuples(st.sampled_from(shapes), st.integers(0, 3)), min_size=3, max_size=8)
    )

    def function(x, w):
        found = []
        for shape, kind in plan:
            x = np.reshape(x, shape)
            if kind == 0:
                x = np.maximum(x * 1.5, x - np.reshape(w, (-1,))[: shape[-1]])
            elif kind == 1:
                found.append(np.max(x, axis=0, keepdims=len(found) % 2 == 0) * 2)
                x = x + 1
            elif kind == 2:
                x = np.max(x, axis=-1, keepdims=True) - x
            else:
                found.append(np.swapaxes(x, 0, -1))
        return [*found, x, np.max(x)]

    x = R.normal(size=shapes[0]).astype("f")
    program = core.trace(function, x, x)
    for found, expected in zip(program.fused()(x, x), function(x, x), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_a_block_of_a_transformer_is_products_with_loops_behind_them():
    norm, inner, outer = L.LayerNormalization(32), L.Linear(32, 64), L.Linear(64, 32)
    links = core.ChainList(norm, inner, outer)

    def flat(link, x):
        return F.reshape(link(F.reshape(x, (-1, x.shape[-1]))), (*x.shape[:-1], -1))

    @core.capture(fuse=True)
    def step(x):
        links.cleargrads()
        loss = F.mean((x + flat(outer, F.gelu(flat(inner, norm(x))))) ** 2)
        loss.backward()

    for _ in range(3):
        step(R.normal(size=(4, 16, 32)).astype("f"))
    [program] = step.programs
    views = {"reshape", "T", "broadcast_to", "loop"}
    left = [e.call.name for e in program.equations if e.call.name not in views]
    assert left == ["matmul"] * 6 and len(loops(program)) <= 5


@pytest.mark.parametrize(("n", "size"), [(1, 5), (8, 34)])  # a kernel declines, and computes
def test_convolutions_take_rectifiers_along(n, size):
    x = np.random.default_rng(0).standard_normal((n, 3, size, size)).astype("f")
    first, second = L.Convolution2D(3, n, 3), L.Convolution2D(n, n, 3)

    def network(x):
        h = F.relu(first(x))
        kept = second(h)
        return F.relu(kept), F.tanh(kept)  # what is read twice is not rectified on its way

    with core.no_backprop_mode():
        captured = core.capture(network, fuse=True)
        for _ in range(3):
            got = captured(x)
        expected = network(x)
    (program,) = captured.programs
    names = [equation.call.name for equation in program.equations]
    rectified = names.count("Convolution.rectified")
    assert rectified == (size > 5), names
    assert names.count("Convolution") == rectified
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours.array, theirs.array, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(got[0].array, expected[0].array)


def test_rectifiers_stay_where_others_read_what_they_are_given():
    class Layer(core.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.conv = L.Convolution2D(3, 8, 3)

        def forward(self, x, t):
            h = self.conv(x)
            return F.mean_squared_error(F.relu(h), t) + F.mean(h)

    x = np.random.default_rng(0).standard_normal((4, 3, 34, 34)).astype("f")
    t = np.ones((4, 8, 32, 32), "f")
    model = Layer()
    eager, fused = model.copy("copy"), model.copy("copy")
    for one, capture in ((eager, lambda step: step), (fused, core.capture(fuse=True))):
        optimizer = core.optimizers.SGD(0.1).setup(one)
        step = capture(lambda x, t, o=optimizer, m=one: o.update(m, x, t))
        for _ in range(4):
            step(x, t)
    np.testing.assert_allclose(fused.conv.W.array, eager.conv.W.array, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("columns, count", [(255, 0), (256, 2)])
def test_one_operation_on_many_elements_is_a_loop_by_itself(columns, count):
    """For that several threads compute it: where it stands alone NumPy has one."""

    def function(x, W, b):
        y = x @ W
        return y + b, np.sum(x, axis=0)

    shapes = [(256, columns), (columns, columns), (columns,)]
    arrays = [np.random.default_rng(i).standard_normal(s).astype("f") for i, s in enumerate(shapes)]
    program = core.trace(lambda *xs: function(*xs), *arrays)
    fused = program.fused()
    assert len(loops(fused)) == count
    for found, expected in zip(fused(*arrays), program(*arrays), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("columns, count", [(15, 0), (16, 1)])
def test_functions_of_short_rows_are_left_to_numpy(columns, count, monkeypatch):
    """For a loop would take them one by one, and NumPy takes all rows at once."""
    monkeypatch.undo()
    x = np.random.default_rng(0).standard_normal((5000, columns)).astype("f")
    fused = core.trace(lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True), x).fused()
    assert len(loops(fused)) == count
    np.testing.assert_allclose(np.sum(fused(x), axis=1), np.ones(5000), rtol=1e-5)


def test_labels_are_looked_at_before_anything_is_taken_by_them():
    x = np.random.default_rng(0).normal(size=(8, 6)).astype("f")
    labels = np.array([0, 1, 2, 2, 1, 0, 1, 1], "i")

    def step(x, t):
        rows = F.dropout(x, 0.5)
        return F.softmax_cross_entropy(x[:, :3] + rows[:, :3], t), F.embed_id(t, x[:3]) + rows

    with core.no_backprop_mode():
        program, captured = core.trace(step, x, labels).fused(), core.capture(step, fuse=True)
        for _ in range(3):
            captured(x, labels)
        for bad in (labels + 1, labels - 2):
            for run in (program, captured):
                with pytest.raises(core.errors.OutOfRange):
                    run(x, bad)
    assert (captured.replayed, captured.reasons) == (2, [])


def test_masks_are_made_before_what_they_look_at_is_let_go():
    """Where others read an activation and a product comes before its mask, that alone is kept.

    Not where a product keeps the activation too, and not where one loop may hold both.
    """

    def scaled(x, W, g):
        y = np.maximum(x, 0)
        z = (y * 2) @ W
        for _ in range(4):
            z = np.tanh(z)
        return np.sum(z) + np.sum(np.where(y > 0, g, 0.0))

    def loops(x, W, g):
        y = np.maximum(x, 0)
        z = y * 2
        for _ in range(4):
            z = np.tanh(z + W)
        return np.sum(z) + np.sum(np.where(y > 0, g, 0.0))

    def layer(x, W, g):
        y = np.maximum(x, 0)
        z = np.tanh(y @ W)
        gW = y.T @ (g * (1 - z * z))
        return gW, np.where(y > 0, g @ W.T, 0.0)

    arrays = [np.random.default_rng(i).standard_normal((60, 60)).astype("f") for i in range(3)]
    for function, early in ((scaled, True), (loops, False), (layer, False)):
        program = core.trace(lambda *xs, f=function: f(*xs), *arrays)
        names = [e.call.name for e in program.equations]
        moved, masks = with_early_masks(program, host().fuser())
        order = [e.call.name for e in moved.equations]
        assert sorted(order) == sorted(names)
        assert bool(masks) == early
        assert (order.index("gt") == order.index("maximum") + 1) == early
        for ours, theirs in zip(
            np.atleast_1d(moved(*arrays)), np.atleast_1d(program(*arrays)), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


def test_more_arrays_than_are_packed_for_another_thread_are_left_to_numpy():
    x = np.linspace(0.5, 5, 1 << 17, dtype="f").reshape(256, -1)

    def powers(x):
        return [x * i + 1 for i in range(40)]

    with using_threads(2):
        found = core.trace(powers, x).fused()(x)
    assert all(map(np.array_equal, found, powers(x)))
