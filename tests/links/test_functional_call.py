"""Links called with other parameters give what links of these give, gradients included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L

X = np.random.default_rng(0).normal(size=(4, 5, 6)).astype("f")
IDS = np.random.default_rng(1).integers(0, 7, (4, 5))

LINKS = {
    "linear": (lambda: L.Linear(30, 3), (X,)),
    "several": (lambda: core.Sequential(L.Linear(30, 3), F.tanh, L.Linear(3, 2)), (X,)),
    "convolution": (lambda: L.Convolution1D(5, 3, 3), (X,)),
    "normalizations": (
        lambda: core.Sequential(L.BatchNormalization(5), L.LayerNormalization(6)),
        (X,),
    ),
    "a stateful layer": (lambda: L.LSTM(6, 4), (X[:, 0],)),
    "sequences": (lambda: L.NStepLSTM(2, 6, 4, 0.0), (None, None, list(X))),
    "both ways": (lambda: L.NStepBiGRU(1, 6, 4, 0.0), (None, list(X))),
    "attention": (lambda: L.TransformerBlock(6, 2), (X,)),
    "embedding": (lambda: L.EmbedID(7, 3), (IDS,)),
    "trees": (lambda: L.ChildSumTreeLSTM(6, 4), (X[:, 0],)),
}


def model():
    made = core.Sequential(L.Linear(3, 4), F.tanh, L.LayerNormalization(4), L.Linear(4, 2))
    random = np.random.default_rng(0)
    for p in made.params():
        p.array = random.normal(size=p.shape).astype("f")
    return made


def total(y):
    return sum(map(total, y)) if isinstance(y, (list, tuple)) else F.sum(F.sin(y))


@pytest.mark.parametrize("name", LINKS)
@given(share=st.sets(st.integers(0, 30)), seed=st.integers(0, 9))
def test_it_is_a_link_of_these_parameters(name, share, seed):
    make, arguments = LINKS[name]
    link, other = make(), make()
    random = np.random.default_rng(seed)
    for i, (path, p) in enumerate(link.namedparams()):
        p.array = random.normal(size=p.shape).astype("f")
        like = dict(other.namedparams())[path]
        like.array = p.array if i in share else random.normal(size=p.shape).astype("f")
    own = [(p, p.array) for p in link.params()]
    params = {
        path: core.Variable(p.array)
        for i, (path, p) in enumerate(other.namedparams())
        if i not in share
    }
    expected, found = (
        total(other(*arguments)),
        total(core.functional_call(link, params, *arguments)),
    )
    assert found.array.tobytes() == expected.array.tobytes()
    expected.backward()
    found.backward()
    for path, p in other.namedparams():
        x = params.get(path, dict(link.namedparams())[path])
        assert (x.grad is None) is (p.grad is None)
        assert p.grad is None or x.grad.tobytes() == p.grad.tobytes()
    assert all(p.array is array and p.requires_grad for p, array in own)


def step_within(link, x):
    """A loss after a step of gradient descent, and its gradients: through the step."""
    params = dict(link.namedparams())
    loss = F.sum(core.functional_call(link, params, x) ** 2)
    grads = core.grad([loss], list(params.values()), enable_double_backprop=True)
    after = {path: p - 0.1 * g for (path, p), g in zip(params.items(), grads, strict=True)}
    link.cleargrads()
    F.sum(core.functional_call(link, after, x) ** 2).backward()
    return [p.grad for p in link.params()]


@pytest.mark.parametrize(
    "context",
    [lambda: core.using_config("debug", True), core.function_hooks.TimerHook],
    ids=["debug", "hooks"],
)
def test_derivatives_through_a_step(context):
    link, x = model(), X[:, 0, :3].astype("d")
    for p in link.params():
        p.array = p.array.astype("d")
    found = step_within(link, x)

    def after(*arrays):
        for p, array in zip(link.params(), arrays, strict=True):
            p.array = core.as_array(array)
        loss = F.sum(link(x) ** 2)
        grads = core.grad([loss], list(link.params()))
        moved = [p.array - 0.1 * g.array for p, g in zip(link.params(), grads, strict=True)]
        kept = [p.array for p in link.params()]
        for p, array in zip(link.params(), moved, strict=True):
            p.array = array
        value = float(F.sum(link(x) ** 2).array)
        for p, array in zip(link.params(), kept, strict=True):
            p.array = array
        return value

    arrays = [p.array.copy() for p in link.params()]
    for i, gradient in enumerate(found):
        direction = np.random.default_rng(i).normal(size=gradient.shape)
        ends = []
        for sign in (1, -1):
            moved = [a + sign * 1e-5 * direction if j == i else a for j, a in enumerate(arrays)]
            ends.append(after(*moved))
        slope = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=1e-5, atol=1e-7)
    for p, array in zip(link.params(), arrays, strict=True):
        p.array = array
    with context():
        again = step_within(link, x)
    assert [g.tobytes() for g in again] == [g.tobytes() for g in found]


def test_a_captured_step_has_the_bits_of_eager():
    x = X[:, 0, :3]
    links = model(), model()
    optimizers = [core.optimizers.Adam(0.01).setup(link) for link in links]

    def steps(link, optimizer):
        def step(x):
            step_within(link, x)
            optimizer.update()

        return step

    eager, captured = steps(links[0], optimizers[0]), core.capture(steps(links[1], optimizers[1]))
    for _ in range(5):
        eager(x)
        captured(x)
    assert captured.replayed == 4
    for p, q in zip(links[0].params(), links[1].params(), strict=True):
        assert p.array.tobytes() == q.array.tobytes()


def called(x, params):
    return F.sum(F.tanh(core.functional_call(OF_A_FUNCTION, params, x)) ** 2)


def called_by_another(x, params):
    return called(x, params)  # who traces a function that calls this one has not seen the link


OF_A_FUNCTION = model()


@pytest.mark.parametrize("kind", [np.asarray, core.Variable])
def test_parameters_from_outside_of_what_is_traced(kind):
    random, x = np.random.default_rng(3), X[:, 0, :3]
    arrays = {path: p.array * 2 for path, p in OF_A_FUNCTION.namedparams()}
    along = {path: random.normal(size=a.shape).astype("f") for path, a in arrays.items()}
    params, own = {path: kind(a) for path, a in arrays.items()}, dict(OF_A_FUNCTION.namedparams())
    before = {path: p.array.copy() for path, p in own.items()}

    def by_rows(params):
        return F.sum(core.vmap(lambda row: called_by_another(row[None], params))(x))

    expected = called(x, params).array
    step = core.capture(lambda x: called_by_another(x, params))
    with core.no_backprop_mode():
        found = [by_rows(params), core.trace(lambda x: called_by_another(x, params), x)(x)]
        found += [step(x) for _ in range(3)]
    assert step.replayed == 2
    for y in found:
        np.testing.assert_allclose(core.as_array(y), expected, rtol=1e-5)
    for take in (by_rows, lambda params: called(x, params)):
        found.append(core.hvp(take, [params], [along]))
    for one, other in zip(*found[-2:], strict=True):
        for path in arrays:
            np.testing.assert_allclose(one[path].array, other[path].array, rtol=2e-4, atol=1e-4)
    assert all(np.array_equal(p.array, before[path]) for path, p in own.items())


def test_several_sets_of_parameters_at_once():
    link, x = model(), X[:, 0, :3]
    sets = {path: np.stack([p.array * k for k in (1, 2, 3)]) for path, p in link.namedparams()}
    found = core.vmap(lambda params, x: core.functional_call(link, params, x), in_axes=(0, None))(
        sets, x
    )
    for i in range(3):
        expected = core.functional_call(link, {path: a[i] for path, a in sets.items()}, x)
        np.testing.assert_allclose(found.array[i], expected.array, rtol=1e-5, atol=1e-6)


def test_parameters_in_the_places_of_each_other():
    first, second = L.Linear(3, 3), L.Linear(3, 3)
    link, x = core.Sequential(first, F.tanh, second), X[:, 0, :3]
    swapped = {"/0/W": second.W, "/0/b": second.b, "/1/W": first.W, "/1/b": first.b}
    y = core.functional_call(link, swapped, x)
    assert y.array.tobytes() == first(F.tanh(second(x))).array.tobytes()
    assert link(x).array.tobytes() == second(F.tanh(first(x))).array.tobytes()


def test_constants_frozen_parameters_and_those_without_a_size():
    link, W = L.Linear(None, 2), core.Variable(np.ones((2, 3), "f"))
    x = X[:, 0, :3]
    y = core.functional_call(link, {"/W": W}, x)
    assert core.grad([F.sum(y)], [W])[0].shape == (2, 3)
    assert link.W.array is None
    link(x)
    link.disable_update()
    y = core.functional_call(link, {"/W": W}, x)
    assert core.grad([F.sum(y)], [W])[0].shape == (2, 3)
    assert not link.W.requires_grad
    y = core.functional_call(link, {"/W": W.array, "/b": np.zeros(2, "f")}, x)
    assert not y.requires_grad
    link.enable_update()
    assert link.W.requires_grad


def test_what_does_not_fit_leaves_the_link_as_it_was():
    class Failing(core.Chain):
        def forward(self, x):
            raise OSError("no such device")

    link = Failing(l=L.Linear(3, 2))
    W = link.l.W.array
    for params, error, match in (
        ({"/l/b": np.ones(2, "f"), "/l/w": W}, core.errors.UnknownName, "Did you mean '/l/W'"),
        (
            {"/l/b": np.ones(2, "f"), "/l/W": W.T},
            ValueError,
            r"shape \(2, 3\), got \(3, 2\)",
        ),
        ({"/l/b": np.ones(2, "f"), "/l/W": 2 * W}, OSError, "no such device"),
    ):
        with pytest.raises(error, match=match):
            core.functional_call(link, params, X)
        assert link.l.W.array is W and not link.l.b.array.any() and link.l.W.requires_grad


class Tied(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a, self.b = L.Linear(3, 3), L.Linear(3, 3)
        self.b.W = self.a.W

    def forward(self, x):
        return self.b(F.tanh(self.a(x)))


def test_a_shared_parameter_has_the_name_that_each_link_gives_it():
    link, x = Tied(), np.ones((2, 3), "f")
    own = link.a.W.array
    w = core.Variable(np.arange(9, dtype="f").reshape(3, 3))
    both = core.functional_call(link, {"/a/W": w, "/b/W": w}, x)
    found = [core.functional_call(link, {path: w}, x) for path in ("/a/W", "/b/W")]
    link.a.W.array = w.array
    for y in (both, *found):
        np.testing.assert_array_equal(y.array, link(x).array)
        (g,) = core.grad([total(y)], [w])
        (expected,) = core.grad([total(link(x))], [link.a.W])
        np.testing.assert_array_equal(g.array, expected.array)
    with pytest.raises(ValueError, match="/a/W and /b/W are one parameter, which links share"):
        core.functional_call(link, {"/a/W": w, "/b/W": own}, x)
    with pytest.raises(core.errors.UnknownName, match="no parameter '/b/V'. Did you mean '/b/W'"):
        core.functional_call(link, {"/b/V": w}, x)
