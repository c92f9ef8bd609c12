"""Every bundled optimizer, by check_optimizer: against loops over Python floats."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from references.optimizers import (
    adadelta,
    adagrad,
    adam,
    adamax,
    corrected_momentum_sgd,
    corrected_nesterov_ag,
    lamb,
    lion,
    momentum_sgd,
    msvag,
    nadam,
    nesterov_ag,
    radam,
    rmsprop,
    rmsprop_graves,
    sgd,
    smorms3,
)

import core
import core.functions as F
import core.links as L
from core import optimizers
from core.errors import UpdateError
from core.testing import check_optimizer
from core.testing.memory import load, saved


def row(name, loop, renamed=(), **arguments):
    """An optimizer with arguments, and its loop with the same under the loop's names."""
    settings = {dict(renamed).get(key, key): value for key, value in arguments.items()}
    return getattr(optimizers, name), arguments, loop, settings


OPTIMIZERS = {
    "AdaDelta": row("AdaDelta", adadelta),
    "AdaDelta(...)": row("AdaDelta", adadelta, rho=0.5, eps=1e-2),
    "AdaGrad": row("AdaGrad", adagrad),
    "AdaGrad(...)": row("AdaGrad", adagrad, lr=0.3, eps=1e-2),
    "CorrectedMomentumSGD": row("CorrectedMomentumSGD", corrected_momentum_sgd),
    "CorrectedMomentumSGD(...)": row(
        "CorrectedMomentumSGD", corrected_momentum_sgd, lr=0.1, momentum=0.5
    ),
    "CorrectedNesterovAG": row("CorrectedNesterovAG", corrected_nesterov_ag),
    "CorrectedNesterovAG(...)": row(
        "CorrectedNesterovAG", corrected_nesterov_ag, lr=0.1, momentum=0.5
    ),
    "NesterovAG": row("NesterovAG", nesterov_ag),
    "NesterovAG(...)": row("NesterovAG", nesterov_ag, lr=0.1, momentum=0.5),
    "RMSprop": row("RMSprop", rmsprop),
    "RMSprop(...)": row("RMSprop", rmsprop, lr=0.1, alpha=0.5, eps=1e-2),
    "RMSprop(eps_inside_sqrt)": row(
        "RMSprop", rmsprop, [("eps_inside_sqrt", "inside")], eps=1e-2, eps_inside_sqrt=True
    ),
    "RMSpropGraves": row("RMSpropGraves", rmsprop_graves),
    "RMSpropGraves(...)": row(
        "RMSpropGraves", rmsprop_graves, lr=0.1, alpha=0.5, momentum=0.3, eps=1e-2
    ),
    "SMORMS3": row("SMORMS3", smorms3),
    "SMORMS3(...)": row("SMORMS3", smorms3, lr=0.5, eps=1e-3),
    "MSVAG": row("MSVAG", msvag),
    "MSVAG(...)": row(
        "MSVAG",
        msvag,
        [("weight_decay_rate", "decay")],
        lr=0.3,
        beta=0.5,
        eta=0.5,
        weight_decay_rate=0.1,
    ),
    "RAdam": row("RAdam", radam),
    "RAdam(...)": row(
        "RAdam",
        radam,
        [("weight_decay_rate", "decay")],
        alpha=0.1,
        beta1=0.5,
        beta2=0.8,
        eps=1e-3,
        eta=0.5,
        weight_decay_rate=0.1,
    ),
    "AdaMax": row("AdaMax", adamax),
    "AdaMax(...)": row(
        "AdaMax",
        adamax,
        [("weight_decay_rate", "decay")],
        alpha=0.1,
        beta1=0.5,
        beta2=0.8,
        eps=1e-3,
        eta=0.5,
        weight_decay_rate=0.1,
    ),
    "NAdam": row("NAdam", nadam),
    "NAdam(...)": row(
        "NAdam",
        nadam,
        [("weight_decay_rate", "decay"), ("momentum_decay", "psi")],
        alpha=0.1,
        beta1=0.5,
        beta2=0.8,
        eps=1e-3,
        eta=0.5,
        weight_decay_rate=0.1,
        momentum_decay=0.5,
    ),
    "Lion": row("Lion", lion),
    "Lion(...)": row(
        "Lion",
        lion,
        [("weight_decay_rate", "decay")],
        lr=0.1,
        beta1=0.5,
        beta2=0.8,
        weight_decay_rate=0.1,
    ),
    "SGD": (optimizers.SGD, {}, sgd, {}),
    "SGD(lr)": (optimizers.SGD, {"lr": 0.3}, sgd, {"lr": 0.3}),
    "MomentumSGD": (optimizers.MomentumSGD, {}, momentum_sgd, {}),
    "MomentumSGD(...)": (
        optimizers.MomentumSGD,
        {"lr": 0.1, "momentum": 0.5},
        momentum_sgd,
        {"lr": 0.1, "momentum": 0.5},
    ),
    "Adam": (optimizers.Adam, {}, adam, {}),
    "Adam(...)": (
        optimizers.Adam,
        {"alpha": 0.1, "beta1": 0.5, "beta2": 0.8, "eps": 1e-3, "eta": 0.5},
        adam,
        {"alpha": 0.1, "beta1": 0.5, "beta2": 0.8, "eps": 1e-3, "eta": 0.5},
    ),
    "AdamW": row("AdamW", adam, [("weight_decay_rate", "decay")], weight_decay_rate=0.01),
    "AMSGrad": (optimizers.AMSGrad, {"beta2": 0.1}, adam, {"beta2": 0.1, "amsgrad": True}),
    "AdaBound": (
        optimizers.AdaBound,
        {"gamma": 1.0, "final_lr": 0.05},
        adam,
        {"gamma": 1.0, "final_lr": 0.05},
    ),
    "AMSBound": (
        optimizers.AMSBound,
        {"gamma": 1.0, "beta2": 0.1},
        adam,
        {"gamma": 1.0, "beta2": 0.1, "final_lr": 0.1, "amsgrad": True},
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name):
    make, arguments, loop, settings = OPTIMIZERS[name]
    check_optimizer(
        lambda: make(**arguments),
        lambda theta, gradients: list(loop(theta, gradients, **settings)),
    )


OF_WHOLE_PARAMETERS = [
    ("LAMB", {}),
    ("LAMB", {"alpha": 0.1, "weight_decay_rate": 0.1}),
    ("Adafactor", {}),
    ("Adafactor", {"decay_rate": 0.5, "relative_step": False, "weight_decay_rate": 0.1}),
    ("Muon", {"weight_decay_rate": 0.1}),
]


@pytest.mark.parametrize(("name", "settings"), OF_WHOLE_PARAMETERS)
def test_optimizers_of_whole_parameters(name, settings):
    check_optimizer(lambda: getattr(optimizers, name)(**settings))


def squarable(least, most):
    """Numbers of which even squares of products are not 0, unless they are 0 themselves."""
    return st.floats(least, most).map(lambda x: x if abs(x) > 1e-60 else 0.0)


values = st.lists(squarable(-2, 2), min_size=3, max_size=3)


@pytest.mark.parametrize("place", ["numpy", "strict"])
@given(start=values, gradients=st.lists(values, min_size=1, max_size=5), decay=squarable(0, 0.5))
@example(start=[0.0] * 3, gradients=[[1.0, 0.0, -1.0]], decay=0.1)
@example(start=[1.0, -2.0, 0.0], gradients=[[0.0] * 3] * 2, decay=0.0)
def test_lamb_steps_in_proportion_to_the_length_of_the_parameter(place, start, gradients, decay):
    settings = {"alpha": 0.1, "beta1": 0.5, "beta2": 0.8, "eps": 1e-3}
    optimizer = optimizers.LAMB(weight_decay_rate=decay, **settings)
    found = stepped(optimizer, start, gradients, "float64", place)
    *_, expected = lamb(start, gradients, decay=decay, **settings)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_lamb_takes_the_norms_of_16_bit_parameters_in_float32():
    start = np.full(300, 30.0)  # whose squares add up to more than float16 holds
    found = stepped(optimizers.LAMB(alpha=0.25, eps=1e-3), start, [np.ones(300)], "float16")
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, 0.75 * start, rtol=1e-2)


def drawn(shape, steps, seed=0):
    generator = np.random.default_rng(seed)
    sizes = generator.choice([1e-3, 1.0, 30.0], (steps, *shape))
    return generator.normal(size=shape), sizes * generator.normal(size=(steps, *shape))


@pytest.mark.parametrize("shape", [(3, 5), (4, 1), (2, 3, 4)])
def test_adafactor_divides_by_the_product_of_sums_of_rows_and_columns(shape):
    start, gradients = drawn(shape, 4)
    theta, row, col = start, 0.0, 0.0
    for t, g in enumerate(gradients, 1):
        kept = 1 - t**-0.8
        row = kept * row + (1 - kept) * np.sum(g * g + 1e-30, axis=-1)
        col = kept * col + (1 - kept) * np.sum(g * g + 1e-30, axis=-2)
        total = np.sum(row, axis=-1)[..., None, None]
        u = g / np.sqrt(row[..., :, None] * col[..., None, :] / total)
        u = u / max(1.0, np.sqrt(np.mean(u * u)))
        theta = theta - min(0.3, t**-0.5) * max(1e-3, np.sqrt(np.mean(theta * theta))) * u
    found = stepped(optimizers.Adafactor(lr=0.3), start, gradients, "float64")
    np.testing.assert_allclose(found, theta, rtol=1e-9)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
@pytest.mark.parametrize("nesterov", [False, True])
def test_muon_steps_along_singular_vectors(shape, nesterov):
    start, gradients = drawn(shape, 3)
    theta, m = start, 0.0
    for g in gradients:
        m = 0.95 * m + 0.05 * g
        ahead = 0.95 * m + 0.05 * g if nesterov else m
        u, s, v = np.linalg.svd(ahead.reshape(shape[0], -1), full_matrices=False)
        s = s / np.sqrt(np.sum(s * s))
        for _ in range(5):
            s = 3.4445 * s - 4.775 * s**3 + 2.0315 * s**5
        largest = max(shape[0], math.prod(shape[1:]))
        theta = theta - 0.1 * (0.2 * largest**0.5 * ((u * s) @ v).reshape(shape) + 0.2 * theta)
    optimizer = optimizers.Muon(lr=0.1, nesterov=nesterov, weight_decay_rate=0.2)
    np.testing.assert_allclose(stepped(optimizer, start, gradients, "float64"), theta, rtol=1e-9)


def test_muon_steps_as_adamw_where_matrices_are_excepted():
    start, gradients = drawn((2, 3), 3)
    optimizer = optimizers.Muon(lr=0.1, weight_decay_rate=0.2, orthogonal=False)
    found = stepped(optimizer, start, gradients, "float64")
    adamw = optimizers.AdamW(0.1, weight_decay_rate=0.02)
    np.testing.assert_allclose(found, stepped(adamw, start, gradients, "float64"), rtol=1e-12)
    optimizer.orthogonal = True
    with pytest.raises(
        UpdateError, match=r"expected 'v' of MuonRule in the shape \(0,\), got \(2,"
    ):
        optimizer.update()
    np.testing.assert_array_equal(optimizer.target.x.array, found)


def test_adafactor_refuses_what_it_has_kept_for_another_shape():
    optimizer = optimizers.Adafactor()
    stepped(optimizer, np.ones((2, 3)), [np.ones((2, 3))])
    other = optimizers.Adafactor().setup(parameter(np.ones((3, 4))))
    load(other, saved(optimizer))
    other.target.x.grad = np.ones((3, 4), "f")
    with pytest.raises(
        UpdateError, match=r"expected 'row' .* \(3, 1\), got \(2, 1\).*setup\(link\)"
    ):
        other.update()
    assert (other.target.x.array == 1).all() and other.target.x.update_rule.t == 1


def test_muon_steps_by_gradients_whose_squares_float32_does_not_hold():
    found = stepped(optimizers.Muon(), np.ones((2, 2)), [[[1e-25, 0.0], [3e25, -1e25]]])
    assert np.isfinite(found).all() and (found != 1).any()


@pytest.mark.filterwarnings("ignore:Adafactor. eps1=1e-30 is 0 in float16")
@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_rows_and_columns_of_16_bits_without_a_gradient_stay_finite(name):
    gradients = [[[0.0, 1e-5], [0.0, 0.25]], [[0.0, 0.0], [0.0, 0.0]]]
    found = stepped(getattr(optimizers, name)(lr=0.1), np.ones((2, 2)), gradients, "float16")
    assert np.isfinite(found).all() and found[1, 1] < 1


def parameter(values, dtype="float32"):
    model = core.Link()
    with model.init_scope():
        model.x = core.Parameter(np.array(values, dtype))
    return model


def stepped(optimizer, values, gradients, dtype="float32", place="numpy"):
    """The parameter after a step by each of the gradients."""
    model = parameter(values, dtype).to_device(place)
    optimizer.setup(model)
    for g in gradients:
        model.x.grad = model.x.backend.asarray(np.array(g, dtype))
        optimizer.update()
    return core.backend.to_host(model.x.array)


@pytest.mark.parametrize("name", core.registry.catalogue("optimizers").names())
def test_elements_without_a_gradient_stay_where_they_are(name):
    zeros = [np.zeros(2)] * 3
    optimizer = getattr(optimizers, name)()
    if hasattr(optimizer, "weight_decay_rate"):
        optimizer.weight_decay_rate = 0.0
    assert stepped(optimizer, [0.5, -1.0], zeros).tolist() == [0.5, -1.0]


@pytest.mark.parametrize("name", core.registry.catalogue("optimizers").names())
@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_a_gradient_whose_square_is_too_large_leaves_no_nan(name, shape):
    gradients = np.ones((4, *shape))
    gradients[0].flat[0] = 1e25
    with np.errstate(all="ignore"):
        found = stepped(getattr(optimizers, name)(), np.ones(shape), gradients).ravel()
    assert np.isfinite(found).all() and (found[3] < 1 or name in ("LAMB", "Muon"))  # one length


@pytest.mark.parametrize("name", ["Adam", "AdamW", "NAdam", "RMSprop", "AdaGrad"])
def test_a_gradient_whose_square_is_too_large_does_what_it_does_in_pytorch(name):
    torch = pytest.importorskip("torch")
    gradients = np.array([[1e25, 1.0], [1.0, 1.0], [-1.0, 1.0]])
    theirs = torch.nn.Parameter(torch.ones(2))
    numbers = {"weight_decay": 0.0} if name == "AdamW" else {}
    optimizer = getattr(torch.optim, "Adagrad" if name == "AdaGrad" else name)(
        [theirs], 0.01, **numbers
    )
    for g in gradients:
        theirs.grad = torch.tensor(g, dtype=torch.float32)
        optimizer.step()
    ours = getattr(optimizers, name)(0.01)
    if name == "AdamW":
        ours.weight_decay_rate = 0.0
    with np.errstate(over="ignore"):
        found = stepped(ours, [1.0, 1.0], gradients)
    np.testing.assert_allclose(found, theirs.detach().numpy(), rtol=1e-5)


SHARES = {  # of the squares of gradients that are kept
    "Adam": ("beta2", adam),
    "AdamW": ("beta2", adam),
    "AdaDelta": ("rho", adadelta),
    "NAdam": ("beta2", nadam),
    "RMSprop": ("alpha", rmsprop),
}


@pytest.mark.parametrize("name", SHARES)
@given(
    kept=st.sampled_from([0.0, 1e-12, 1e-8, 1e-4, 0.25, 0.499, 0.5, 0.9]) | st.floats(0, 0.999),
    gradients=st.lists(st.sampled_from([1e-4, -1e-3, 0.1, -1.0, 30.0, 1e4]), min_size=1),
)
@example(kept=0.0, gradients=[1e4, 0.1, -1.0, 30.0, 1e-4])
def test_a_small_gradient_after_a_large_one_takes_no_large_step(name, kept, gradients):
    share, loop = SHARES[name]
    found = stepped(getattr(optimizers, name)(**{share: kept}), [0.5], [[g] for g in gradients])
    path = list(loop(0.5, gradients, **{share: kept}))
    np.testing.assert_allclose(found, path[-1:], rtol=0, atol=1e-4 * max(map(abs, path)))


@pytest.mark.parametrize("beta", [0.0, 1e-17])
def test_without_earlier_gradients_there_is_no_variance_to_damp_by(beta):
    found = stepped(optimizers.MSVAG(lr=0.5, beta=beta), [1.0], [[1.0], [2.0], [-4.0]], "float64")
    np.testing.assert_allclose(found, [1.5], rtol=1e-12)


NAMES = core.registry.catalogue("optimizers").names()
WITH_EPS = [name for name in NAMES if hasattr(getattr(optimizers, name), "eps")]


@pytest.mark.parametrize("name", WITH_EPS)
def test_a_small_eps_lets_float16_elements_stand_still_that_would_become_nan(name):
    grads = [[0.0, 1e-5, 0.5], [0.0, 0.0, -0.25], [0.0, 1e-5, 0.125]] * 3
    with pytest.warns(UserWarning, match=": eps=1e-09 is 0 in float16.*use_fp32_update"):
        found = stepped(getattr(optimizers, name)(eps=1e-9), [1.0, 1.0, 1.0], grads, "float16")
    assert found[0] == 1 and np.isfinite(found).all()
    optimizer = getattr(optimizers, name)(eps=1e-9)
    optimizer.use_fp32_update()
    assert np.isfinite(stepped(optimizer, [1.0, 1.0, 1.0], grads, "float16")).all()


# What Chainer 3.0.0 makes of [1, 2, 3] in float16 by three steps on the sum of squares.
IN_FLOAT16 = {
    "AdaGrad": [0.99805, 1.9971, 2.998],
    "Adam": [0.99707, 1.9971, 2.9941],
    "RMSprop": [0.78027, 1.7754, 2.7734],
    "SMORMS3": [0.99658, 1.9971, 2.9941],
}


@pytest.mark.filterwarnings("ignore:.* is 0 in float16")
@pytest.mark.parametrize("name", IN_FLOAT16)
def test_float16_parameters_move_as_those_of_chainer_do(name):
    model = core.Link()
    with model.init_scope():
        model.x = core.Parameter(np.array([1, 2, 3], "float16"))
    optimizer = getattr(optimizers, name)().setup(model)
    for _ in range(3):
        optimizer.update(lambda: F.sum(model.x * model.x))
    assert model.x.dtype == "float16"
    np.testing.assert_allclose(model.x.array, IN_FLOAT16[name], rtol=2**-10)


def test_rounding_makes_no_negative_variance():
    big = [[3001.7], [3001.7], [3001.7]] * 20
    assert np.isfinite(stepped(optimizers.RMSpropGraves(alpha=0.5, eps=1e-8), [1.0], big)).all()
    assert np.isfinite(stepped(optimizers.MSVAG(beta=0.5), [1.0], big)).all()


def test_momentum_is_corrected_for_changes_of_the_rate():
    constant = [[1.0]] * 3
    plain, corrected = optimizers.MomentumSGD(lr=0.1), optimizers.CorrectedMomentumSGD(lr=0.1)
    np.testing.assert_allclose(stepped(plain, [0.0], constant), stepped(corrected, [0.0], constant))
    for optimizer in (plain, corrected):
        optimizer.lr = 0.0
        optimizer.target.x.grad = np.ones(1, "f")
        optimizer.update()
    assert (
        plain.target.x.array
        < corrected.target.x.array
        == stepped(optimizers.CorrectedMomentumSGD(lr=0.1), [0.0], constant)
    )


def test_signatures():
    for name, expected in {
        "AdaDelta": "(rho=0.95, eps=1e-06)",
        "AdaGrad": "(lr=0.001, eps=1e-08)",
        "CorrectedMomentumSGD": "(lr=0.01, momentum=0.9)",
        "CorrectedNesterovAG": "(lr=0.01, momentum=0.9)",
        "NesterovAG": "(lr=0.01, momentum=0.9)",
        "RMSprop": "(lr=0.01, alpha=0.99, eps=1e-08, eps_inside_sqrt=False)",
        "RMSpropGraves": "(lr=0.0001, alpha=0.95, momentum=0.9, eps=0.0001)",
        "SMORMS3": "(lr=0.001, eps=1e-16)",
        "RAdam": "(alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-08, eta=1.0, weight_decay_rate=0.0)",
        "Adafactor": "(lr=0.01, decay_rate=0.8, eps1=1e-30, eps2=0.001, threshold=1.0, "
        "weight_decay_rate=0.0, relative_step=True, scale_parameter=True)",
        "Muon": "(lr=0.001, momentum=0.95, nesterov=True, ns_steps=5, weight_decay_rate=0.0, "
        "orthogonal=True, beta1=0.9, beta2=0.999, eps=1e-08)",
        "AdaMax": "(alpha=0.002, beta1=0.9, beta2=0.999, eps=1e-08, eta=1.0, "
        "weight_decay_rate=0.0)",
        "NAdam": "(alpha=0.002, beta1=0.9, beta2=0.999, eps=1e-08, eta=1.0, "
        "weight_decay_rate=0.0, momentum_decay=0.004)",
        "Lion": "(lr=0.0001, beta1=0.9, beta2=0.99, weight_decay_rate=0.0)",
        "LBFGS": "(lr=1.0, history_size=10, c1=0.0001, c2=0.9, max_eval=25)",
        "LAMB": "(alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-06, weight_decay_rate=0.0)",
        "MSVAG": "(lr=0.1, beta=0.9, eta=1.0, weight_decay_rate=0.0)",
    }.items():
        shown = inspect.signature(getattr(optimizers, name))
        assert {p.annotation for p in shown.parameters.values()} <= {"float", "int", "bool"}
        plain = [p.replace(annotation=p.empty) for p in shown.parameters.values()]
        assert str(shown.replace(parameters=plain)) == expected


ADAMS = {
    (False, False): optimizers.Adam,
    (True, False): optimizers.AMSGrad,
    (False, True): optimizers.AdaBound,
    (True, True): optimizers.AMSBound,
}


@pytest.mark.parametrize("flags", ADAMS)
def test_options_of_adam_choose_the_rule_that_another_name_has(flags):
    amsgrad, adabound = flags
    given = optimizers.Adam(amsgrad=amsgrad, adabound=adabound, final_lr=0.2)
    assigned = optimizers.Adam(final_lr=0.2)
    assigned.adabound, assigned.amsgrad = adabound, amsgrad
    for optimizer in (given, assigned, ADAMS[flags]()):
        assert (optimizer.amsgrad, optimizer.adabound) == flags
        assert type(optimizer.create_update_rule()) is ADAMS[flags].rule
    assert given.create_update_rule().hyperparam.final_lr == 0.2
    assert optimizers.Adam.rule is type(optimizers.Adam().create_update_rule())


def test_options_of_adam_are_settled_by_setup_and_by_other_names():
    optimizer = optimizers.Adam().setup(L.Linear(2, 1))
    with pytest.raises(ValueError, match=r"Adam: setup\(\) has chosen AdamRule by amsgrad=False"):
        optimizer.amsgrad = True
    optimizer.amsgrad = False
    for flags in ([True, False], [False, True], [True, True]):
        other = ADAMS[tuple(flags)]()
        with pytest.raises(ValueError, match=r"amsgrad is .*write Adam\(amsgrad="):
            other.amsgrad = not flags[0]
    with pytest.raises(ValueError, match=r"AdamW: adabound is False for AdamWRule"):
        optimizers.AdamW().adabound = True


@pytest.mark.parametrize("name", ["Adam", "AdamW", "AMSGrad"])
def test_only_bounded_rules_have_bounds(name):
    rule = getattr(optimizers, name).rule
    assert "final_lr" not in rule.hyperparameters and "amsgrad" not in rule.hyperparameters
    with pytest.raises(AttributeError):
        rule().final_lr  # noqa: B018
