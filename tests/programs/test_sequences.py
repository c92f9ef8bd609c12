"""Loops and products one after the other in one call: the bits of calls one by one."""

import gc
import os
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from backends.numpy_backend.kernels import compiler, team
from core.errors import OutOfRange
from core.programs.execution import compiled
from core.programs.group import SEQUENCE
from core.programs.sequences import in_sequences
from core.registry.threads import using_threads

pytestmark = pytest.mark.skipif(not compiler.available(), reason="loops need numba")


@pytest.fixture(autouse=True)
def worth_while(monkeypatch):
    """Let small arrays have loops too; without NumPy's own OpenBLAS there are no sequences."""
    from backends.numpy_backend import blas, fusion

    if blas.gemm(np.dtype("f")) is None:
        pytest.skip("needs OpenBLAS")
    monkeypatch.setattr(fusion, "CALL", 0)


def sequences(program):
    return [e.call.function for e in program.equations if e.call.name == SEQUENCE]


def packed(program):
    """Whether each sequence of a program has been made as one call."""
    return [each._packed is not None for each in sequences(program)]


def alike(found, expected):
    return all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))


def networks(draw, dtype):
    """A function of one array, and of weights and biases, with its gradients by hand."""
    sizes = draw(st.lists(st.integers(2, 24), min_size=3, max_size=5))
    kinds = draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    weights = [
        random.standard_normal((m, n)).astype(dtype) for n, m in zip(sizes, sizes[1:], strict=False)
    ]
    biases = [random.standard_normal(w.shape[0]).astype(dtype) for w in weights]

    def function(x, *parameters):
        count = len(parameters) // 2
        layers = [x]
        for W, b, kind in zip(parameters[:count], parameters[count:], kinds, strict=False):
            y = layers[-1] @ W.T
            if kind == 0:
                y += b
            elif kind == 1:
                y = np.maximum(y + b, 0) * 2
            elif kind == 2:
                y = (y - b) * (y > 0) - np.max(y, axis=1, keepdims=True)
            layers.append(y)
        g = layers.pop() * 0.5
        found = [g]
        for W, y in zip(parameters[:count][::-1], layers[::-1], strict=True):
            found += [g.T @ y, np.sum(g, axis=0)]
            g = (g @ W) * (y > 0)
        return [*found, g]

    return function, random, sizes[0], [*weights, *biases]


@settings(max_examples=8)
@given(data=st.data(), dtype=st.sampled_from(["f", "d"]), threads=st.integers(1, 3))
def test_networks_have_the_bits_of_calls_one_by_one(data, dtype, threads):
    function, random, width, parameters = networks(data.draw, dtype)
    rows = data.draw(st.integers(2, 150))
    x = random.standard_normal((rows, width)).astype(dtype)
    program = core.trace(function, x, *parameters).fused()
    together = in_sequences(program)
    assert sequences(together)
    one_by_one, run = compiled(program), compiled(together)
    kept = []
    with using_threads(threads):
        for _ in range(3):  # each time with arrays that lie elsewhere
            moved = [
                random.standard_normal(a.shape).astype(dtype) if a is x else a.copy()
                for a in (x, *parameters)
            ]
            expected, found = one_by_one(*moved), run(*moved)
            assert alike(found, expected)
            kept.append((found, [a.copy() for a in found], moved))
    assert all(packed(together))
    for found, copies, _ in kept:  # no call writes into what an earlier one has given
        assert alike(found, copies)


@settings(max_examples=20)
@given(
    st.tuples(st.integers(1, 300), st.integers(2, 40)),
    st.sampled_from(["f", "d"]),
    st.integers(0, 9),
)
def test_sums_of_rows_have_numpys_bits(shape, dtype, seed):
    from backends.numpy_backend.sequences import add_row, sum_rows

    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    total, moved = np.empty(shape[1], dtype), np.empty(shape, dtype)
    sum_rows(x.ravel(), total)
    add_row(x.ravel(), total, moved.reshape(-1))
    assert alike([total, moved], [np.sum(x, axis=0), x + total])


def two_layers(x, W, V):
    return np.maximum(np.maximum(x @ W, 0) * 2 @ V, 0) * 3


def prepared(rows=30):
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(s).astype("f") for s in ((rows, 20), (20, 40), (40, 20))]
    program = core.trace(two_layers, *arrays).fused()
    return program, arrays


def test_arrays_that_lie_otherwise_are_computed_one_by_one_and_others_in_one_call_again():
    program, arrays = prepared()
    together = in_sequences(program)
    one_by_one, run = compiled(program), compiled(together)
    x, W, V = arrays
    wide, shifted = np.zeros((60, 20), "f"), np.zeros(x.nbytes + 1, np.uint8)
    wide[::2] = x
    unaligned = shifted[1:].view("f").reshape(x.shape)
    unaligned[...] = x
    for given_x in (x, np.asfortranarray(x), wide[::2], unaligned, x[::-1], np.asfortranarray(x)):
        assert alike(run(given_x, W, V), one_by_one(given_x, W, V))
    for _ in range(9):  # more layouts than are taken
        for given_x in (x, np.asfortranarray(x)):
            assert alike(run(given_x, W, V), one_by_one(given_x, W, V))
    assert packed(together) == [True]


def of_both(x, y, W):
    return np.maximum(x @ W * 2 + y @ W, 0) @ W * 3, x * 2 + y * 3


def of_rows_far_behind(x, y, W):
    return np.maximum(x @ W + x[-1], 0) @ W * 2 + y[5]


def of_rows_turned_round(x, y, W):
    return np.maximum(x[::-1] @ W + y[::-1], 0) @ W * 2, x * 3


def of_sums(x, y, W):
    return np.maximum(x @ W * 2 + y @ W, 0) @ W * 3, np.sum(y, axis=0)


def of_a_column(x, y, W):
    z = np.maximum(x @ W, 0) * 2
    return z @ W, np.sum(z[:, :1], axis=0), y * 2


def of_columns_of_their_own(x, y, W):
    z = np.maximum(x @ W, 0) @ W * 2
    return z, np.sum(np.max(z, axis=1, keepdims=True) + y[:, 3:4], axis=0)


def of_a_row_to_add(x, y, W):
    z = x @ W
    z += y[3]
    return np.maximum(z, 0) @ W * 2


def of_a_part_that_begins_there_too(x, y, W):
    z = np.maximum(x @ W, 0) @ W * 2
    return z + x[0], x[:12] @ x[:12, ::2], y * 3


READERS = [
    of_both,
    of_rows_far_behind,
    of_rows_turned_round,
    of_sums,
    of_a_column,
    of_columns_of_their_own,
    of_a_row_to_add,
    of_a_part_that_begins_there_too,
]
LYING = [
    lambda base, i, n: base[i : i + n, :12],  # overlaps others, and may be one of them
    lambda base, i, n: base[i : i + 3 * n : 3, :12],
    lambda base, i, n: base[i : i + n][::-1, :12],
    lambda base, i, n: base[i : i + 12, 1 : n + 1].T,
    lambda base, i, n: base[i : i + n, :24:2],
]


@pytest.mark.parametrize("function", READERS)
@settings(max_examples=12)
@given(data=st.data(), dtype=st.sampled_from(["f", "d"]), wide=st.booleans())
def test_what_is_given_may_overlap_now_and_not_the_next_time(function, data, dtype, wide):
    random = np.random.default_rng(5)
    sizes = 15, 15, 12
    example = [random.standard_normal((n, 12)).astype(dtype) for n in sizes]
    program = core.trace(function, *example).fused()
    one_by_one, run = compiled(program), compiled(in_sequences(program))
    kinds = data.draw(st.tuples(*[st.sampled_from(LYING if wide else LYING[:3])] * 3))
    for _ in range(3):
        base = random.standard_normal((60, 24 if wide else 12)).astype(dtype)
        starts = data.draw(st.tuples(*[st.integers(0, 12)] * 3))
        arrays = [kind(base, i, n) for kind, i, n in zip(kinds, starts, sizes, strict=True)]
        assert alike(run(*arrays), one_by_one(*arrays))


def test_a_matrix_and_the_same_turned_have_the_product_that_blas_has_for_them():
    random = np.random.default_rng(1)
    x, W = (
        random.standard_normal((50, 30)).astype("f"),
        random.standard_normal((50, 50)).astype("f"),
    )

    def function(x, y, W):
        return np.maximum((x @ y) @ W, 0) * 2

    program = core.trace(function, x, x.T, W).fused()
    one_by_one, run = compiled(program), compiled(in_sequences(program))
    for y in (x.T.copy().T.copy().T, x.T, random.standard_normal((50, 30)).astype("f").T, x.T):
        assert alike(run(x, y, W), one_by_one(x, y, W))


def turned_sums(x, W):
    y = np.maximum(x @ W, 0) * 2
    return np.sum(y.T, axis=0), np.sum(y[:, ::2], axis=0), y @ W


def turned_in_a_loop(x, W):
    y = x @ W
    return (y * 2 + y.T * 3) @ W, np.maximum(x * 2 + x.T, 0) @ W


@pytest.mark.parametrize("function", [turned_sums, turned_in_a_loop])
def test_views_whose_elements_do_not_lie_in_order_are_read_as_they_lie(function):
    random = np.random.default_rng(5)
    arrays = [random.standard_normal((30, 30)).astype("f") for _ in range(2)]
    program = core.trace(function, *arrays).fused()
    together = in_sequences(program)
    assert sequences(together)
    one_by_one, run = compiled(program), compiled(together)
    for k in range(3):
        moved = [a + k for a in arrays]
        assert alike(run(*moved), one_by_one(*moved))


def test_arrays_that_share_memory_once_may_lie_apart_later():
    random = np.random.default_rng(6)
    both, x, y, W = (random.standard_normal((n, 30)).astype("f") for n in (60, 30, 30, 30))

    def function(x, y, W):
        return np.maximum((np.maximum(x * 2 + y, 0) @ W) * 2, 1), y @ W

    for first in ((x, x), (both[:30], both[10:40])):
        program = core.trace(function, x, y, W).fused()
        together = in_sequences(program)
        one_by_one, run = compiled(program), compiled(together)
        for given_x, given_y in (first, (x, y), (y, x)):
            assert alike(run(given_x, given_y, W), one_by_one(given_x, given_y, W))
        assert packed(together) == [True]


def test_views_far_behind_the_beginning_of_an_array_with_gaps_move_with_it():
    random = np.random.default_rng(7)
    wide, W = random.standard_normal((3, 60, 30)).astype("f"), random.standard_normal((30, 30))

    def function(x, W):
        return np.maximum((x[20:30] @ W) * 2, 1) @ W

    program = core.trace(function, wide[0, ::2], W.astype("f")).fused()
    together = in_sequences(program)
    one_by_one, run = compiled(program), compiled(together)
    for x in wide[:, ::2]:
        assert alike(run(x, W.astype("f")), one_by_one(x, W.astype("f")))
    assert packed(together) == [True]


def test_products_of_numpys_own_that_take_several_threads_stay_apart():
    random = np.random.default_rng(4)
    x, W = random.standard_normal((100, 600)).astype("f"), random.standard_normal((90, 600))

    def function(x, W):
        y = np.maximum(x @ W.T, 0) * 2  # Python's operator, of arrays outside of operations
        return (y.T @ y) * 2, y.T * 3

    program = core.trace(function, x, W.astype("f")).fused()
    one_by_one, run = compiled(program), compiled(in_sequences(program))
    for threads in (1, 2):
        with using_threads(threads):
            assert alike(run(x, W.astype("f")), one_by_one(x, W.astype("f")))


def test_nothing_that_is_given_or_found_is_held():
    program, arrays = prepared()
    for _ in range(2):
        x = arrays[0].copy()
        result = program(x, *arrays[1:])
        refs = weakref.ref(x), weakref.ref(result)
        del x, result
        gc.collect()
        assert [ref() for ref in refs] == [None, None]


def test_another_number_of_threads_has_its_own_parts():
    random = np.random.default_rng(2)
    shapes = (128, 300), (300, 200), (200, 100)  # products that are divided
    arrays = [random.standard_normal(s).astype("f") for s in shapes]

    def function(x, W, V):
        return F.relu(F.matmul(F.relu(F.matmul(x, W)) * 2, V)) * 3

    program = core.trace(function, *arrays).fused()
    together = in_sequences(program)
    one_by_one, run = compiled(program), compiled(together)
    for threads in (1, 2, 3, 2):
        with using_threads(threads):
            assert alike(run(*arrays), one_by_one(*arrays))
    assert packed(together) == [True]


def test_threads_that_run_one_program_at_once_have_its_bits():
    program, arrays = prepared(rows=200)
    inputs = [arrays[0] * k for k in range(1, 7)]
    expected = [program(x, *arrays[1:]) for x in inputs]
    wrong = []

    def work(k):
        for _ in range(200):
            if program(inputs[k], *arrays[1:]).tobytes() != expected[k].tobytes():
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on():
    program, arrays = prepared(rows=200)
    with using_threads(2):
        expected = program(*arrays).tobytes()
        child = os.fork()
        if child == 0:
            os._exit(0 if program(*arrays).tobytes() == expected else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Net(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a, self.b = L.Linear(12, 30), L.Linear(30, 5)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


def captured(model):
    optimizer = core.optimizers.MomentumSGD(lr=0.1).setup(model)

    @core.capture(fuse=True)
    def step(x, t):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step


def test_captured_steps_go_on_with_parameters_that_moved_and_batches_of_another_size(monkeypatch):
    random = np.random.default_rng(3)
    batches = [
        (random.standard_normal((n, 12)).astype("f"), random.integers(0, 5, n).astype("i"))
        for n in (40, 40, 40, 40, 24, 24, 24, 24, 40, 40)
    ]

    def trained():
        model, random = Net(), np.random.default_rng(1)
        for parameter in model.params():
            parameter.array[...] = random.standard_normal(parameter.shape)
        step = captured(model)
        for i, batch in enumerate(batches):
            if i == 8:
                model.a.W = model.a.W.array + 0.5
            step(*batch)
        assert step.replayed == 9
        return step, [p.array for p in model.params()]

    step, found = trained()
    assert any([sequences(in_sequences(program)) for program in step.programs])
    monkeypatch.setattr("core.capturing.recording.in_sequences", lambda program: program)
    assert alike(found, trained()[1])


def test_an_exception_leaves_parameters_as_they_were():
    random = np.random.default_rng(3)
    model = Net()
    step = captured(model)
    x, t = random.standard_normal((40, 12)).astype("f"), random.integers(0, 5, 40).astype("i")
    for _ in range(4):
        step(x, t)
    before = [p.array.copy() for p in model.params()]
    with pytest.raises(OutOfRange):
        step(x, t + 9)
    assert alike([p.array for p in model.params()], before)
    step(x, t)
    assert step.replayed == 4
    assert not alike([p.array for p in model.params()], before)


def test_a_part_without_memory_for_its_arrays_is_an_error_of_the_call(monkeypatch):
    def function(x, w):
        return np.maximum((np.maximum(x @ w, 0) * 2 + x) @ w, 0) * 3 + x

    arrays = [np.ones((30, 30), "f"), np.ones((30, 30), "f")]
    program = in_sequences(core.trace(function, *arrays).fused())
    run = compiled(program)
    expected = run(*arrays)
    [whole] = sequences(program)
    # As where a product is divided, whose parts make arrays, and one of them says that it failed.
    monkeypatch.setattr(whole._packed, "_makes_arrays", True)
    run_in_order = team.run_in_order
    monkeypatch.setattr(team, "run_in_order", lambda *_: whole._packed._words[-1:, -1].fill(1))
    with pytest.raises(MemoryError, match="no memory for the arrays"):
        run(*arrays)
    monkeypatch.setattr(team, "run_in_order", run_in_order)
    assert alike(run(*arrays), expected)
