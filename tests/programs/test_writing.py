"""Programs written out: as text of NumPy's, as costs, as pictures; and made smaller."""

import subprocess
import sys

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.errors import TraceError

X = np.random.default_rng(0).normal(size=(2, 3, 6, 5)).astype("f")

ALONE = """
import sys
for name in ("core", "plugins", "backends", "plugrad"):
    sys.modules[name] = None
import numpy as np
scope = {"__name__": "program"}
exec(open("program.py").read(), scope)
given = dict(np.load("given.npz"))
x, seed = given.pop("x"), int(given.pop("seed"))
if seed:
    scope["random"].seed(seed)
else:
    np.random.seed(0)
for i in range(2):
    (loss, rest), given = scope["program"]({"x": x}, given)
np.savez("found.npz", loss=loss, rest=rest[0], **given)
"""


class Net(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 4, 3, pad=1, stride=2)
            self.fc = L.Linear(64, 5)

    def forward(self, x):
        return self.fc(F.dropout(F.max_pooling_2d(F.relu(self.conv(x)), 2, 1, 1)))


def trained(model):
    optimizer = core.optimizers.MomentumSGD().setup(model)

    def step(batch):
        with core.using_config("train", True):
            losses = []
            optimizer.update(lambda: losses.append(F.sum(model(batch["x"]) ** 2)) or losses[0])
        return losses[0], [batch["x"][..., :2]]

    return step


@pytest.mark.parametrize("seed", [0, 9])
def test_the_text_needs_numpy_alone_and_gives_the_same_bits(tmp_path, seed):
    model = Net()
    program = core.trace(trained(model), {"x": X})
    (tmp_path / "program.py").write_text(program.source(), encoding="utf-8")
    given = {place.name: place.read() for place in program.places}
    np.savez(tmp_path / "given.npz", x=X, seed=seed, **given)
    subprocess.run([sys.executable, "-c", ALONE], check=True, cwd=tmp_path)
    before = core.backend.random_state()
    try:
        core.seed(seed or None)
        np.random.seed(0)
        for _ in range(2):
            loss, rest = program({"x": X})
    finally:
        core.backend.set_random_state(before)
    with np.load(tmp_path / "found.npz") as found:
        assert found["loss"].tobytes() == loss.array.tobytes()
        assert found["rest"].tobytes() == np.ascontiguousarray(rest[0]).tobytes()
        for place in program.places:
            assert found[place.name].tobytes() == place.read().tobytes()


def test_text_that_would_need_more_than_numpy_is_refused():
    half = core.get_dtype("bfloat16")
    program = core.trace(lambda x: core.Variable(x).xp.astype(x, half), X)
    with pytest.raises(TraceError, match="source: .*bfloat16"):
        program.source()


def test_constants_of_every_dtype_are_written_to_the_bit():
    def function(x):
        large = np.arange(40000.0).reshape(200, 200)
        return [x * 0 + c for c in constants], large.T.copy() + x

    constants = [
        np.array([np.nan, -0.0, np.inf, 0.1]),
        np.array(0.1, "f"),
        np.array([[True, False]] * 2).T[:, :1],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)[:, :1]),
        np.array(1 + 2j),
    ]
    program = core.trace(function, np.zeros(()))
    scope = {}
    exec(program.source(), scope)
    found, expected = scope["program"](np.zeros(())), function(np.zeros(()))
    for one, other in zip([*found[0], found[1]], [*expected[0], expected[1]], strict=True):
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())


def test_dtypes_by_pythons_names_are_written():
    def function(x):
        return x.astype(bool), x.astype(float), np.zeros_like(x, dtype=int)

    exec(core.trace(function, X).source(), scope := {})
    for found, expected in zip(scope["program"](X), function(X), strict=True):
        assert found.dtype == expected.dtype and np.array_equal(found, expected)


def test_costs_of_a_network_by_operation_and_link():
    class Two(core.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l1, self.l2 = L.Linear(7, 5), L.Linear(5, 3, nobias=True)

        def forward(self, x):
            return F.sum(self.l2(F.relu(self.l1(x))))

    cost = core.trace(Two(), np.ones((4, 7), "f")).cost()
    by_link = cost.by_link()
    assert by_link["/l1 (Linear)"] == (2 * 4 * 7 * 5 + 20, 4 * (28 + 35 + 20 + 20 + 5 + 20))
    assert by_link["/l2 (Linear)"] == (2 * 4 * 5 * 3, 4 * (20 + 15 + 12))
    assert by_link["/ (Two)"][0] == 20 + 12
    assert cost.by_operation()["LinearFunction"][0] == 2 * 4 * 7 * 5 + 20 + 2 * 4 * 5 * 3
    assert cost.operations == sum(costs[0] for costs in by_link.values())
    assert cost.bytes == sum(costs[1] for costs in by_link.values())
    lines = repr(cost).splitlines()
    assert lines[0].split() == ["operations", "bytes"]
    assert lines[1].split() == ["in", "all", f"{cost.operations:,}", f"{cost.bytes:,}"]


@pytest.mark.parametrize(
    ("function", "operations"),
    [
        (lambda x: x @ x, 2 * 8**3),
        (lambda x: np.einsum("ij,jk->ik", x, x), 2 * 8**3),
        (lambda x: np.tensordot(x, x, axes=1), 2 * 8**3),
        (lambda x: np.sum(x, axis=0), 64),
        (lambda x: x.T[1:].reshape(-1)[None], 0),
        (lambda x: np.linalg.inv(x), 2 * 8**3),
        (lambda x: np.concat([x, x]), 0),
        (lambda x: np.dot(x, x[0, 0]), 64),
        (lambda x: np.dot(x, 2.0), 64),
        (lambda x: np.dot(2.0, x), 64),
    ],
)
def test_operations_of_calls(function, operations):
    assert core.trace(function, np.ones((8, 8))).cost().operations == operations


def test_a_gather_reads_what_it_takes():
    program = core.trace(lambda t, i: t[i], np.ones((1000, 4)), np.zeros(3, "i"))
    assert program.cost().bytes == 2 * 3 * 4 * 8 + 3 * 4


def test_pictures_have_arguments_parameters_calls_and_results():
    model = L.Linear(3, 2)
    optimizer = core.optimizers.SGD().setup(model)

    def step(x):
        optimizer.update(lambda: F.sum(model(x)))
        return x * 2

    graph = core.trace(step, np.ones((4, 3), "f")).graph()
    text = graph.dump("mermaid")
    for part in ("x0: (4, 3), float32", '"matmul"', "/W: (2, 3), float32", "/W after: (2, 3)"):
        assert part in text
    assert "->" in graph.dump("dot")


def test_what_is_computed_twice_is_computed_once():
    def function(x):
        return np.exp(x) * 2 + np.exp(x) * 2.0, np.sum(x * 1) + np.sum(x * True)

    program = core.trace(function, np.ones(3))
    calls = [equation.call.name for equation in program.equations]
    assert calls.count("exp") == 1
    assert calls.count("mul") == 4  # 2 and 2.0, 1 and True are not the same
    for one, other in zip(program(np.arange(3.0)), function(np.arange(3.0)), strict=True):
        assert one.tobytes() == other.tobytes()


def test_zeros_of_two_signs_stay_apart():
    def function(x):
        return np.divide(x, 0.0), np.divide(x, -0.0)

    program = core.trace(function, np.ones(1))
    with np.errstate(divide="ignore"):
        assert [y.tolist() for y in program(np.ones(1))] == [[np.inf], [-np.inf]]


def test_what_follows_from_constants_is_computed_once():
    def function(x):
        mask = np.tril(np.ones((3, 3))) * 2
        return np.where(mask > 0, x, np.sum(mask))

    program = core.trace(function, X[0, 0, :3, :3])
    assert [equation.call.name for equation in program.equations] == ["where"]
    assert np.array_equal(program(X[0, 0, :3, :3]), function(X[0, 0, :3, :3]))


def test_large_constants_are_made_when_needed():
    program = core.trace(lambda x: core.Variable(x).xp.zeros((1000, 1000)) + x, np.ones(1000))
    assert not program.constants


def test_what_nobody_needs_is_not_computed():
    model = L.Linear(3, 2)

    def function(x):
        model(x)
        np.linalg.inv(x @ x.T)
        return x + 1

    program = core.trace(function, np.ones((4, 3), "f"))
    assert len(program.equations) == 1 and not program.places


def test_results_that_were_merged_do_not_share_memory():
    one, other = core.trace(lambda x: (x + 1, x + 1), np.ones(3))(np.ones(3))
    one += 5
    assert other.tolist() == [2, 2, 2]
