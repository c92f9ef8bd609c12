"""The optimizer's step: the loss it owns, hooks, loss scaling, masters, what it refuses."""

import copy
import gc
import inspect
import pickle
import re
import warnings
import weakref

import numpy as np
import pytest
from models import model_of

import core
import core.functions as F
import core.links as L
from core import optimizer_hooks as hooks
from core import optimizers
from core.errors import DeclarationError, GraphError, HookError, UnknownName, UpdateError
from core.testing.memory import load, saved


def with_gradients(model, *gradients):
    for param, g in zip(model.params(), gradients, strict=True):
        param.grad = np.array(g, param.dtype)
    return model


# -- the step ---------------------------------------------------------------------------------


def test_setup_gives_the_optimizer_back():
    optimizer = optimizers.SGD()
    assert optimizer.setup(model_of([1.0])) is optimizer
    with pytest.raises(TypeError, match=r"SGD.setup: expected a link, got int"):
        optimizer.setup(3)


def test_what_comes_before_setup_is_refused():
    for call in (
        lambda o: o.update(),
        lambda o: o.add_hook(hooks.WeightDecay(0.1)),
        lambda o: o.remove_hook("WeightDecay"),
        lambda o: o.call_hooks(),
        lambda o: saved(o),
    ):
        with pytest.raises(UpdateError, match=r"Call setup\(link\) first"):
            call(optimizers.SGD())


def test_update_computes_the_loss_itself():
    model = model_of([2.0, 3.0])
    optimizer = optimizers.SGD(lr=0.5).setup(model)
    optimizer.update(lambda factor, power: F.sum(factor * model.p0**power), 1.0, power=2)
    np.testing.assert_allclose(model.p0.array, [0, 0])
    assert optimizer.t == 1 and model.p0.version == 1
    with pytest.raises(UpdateError, match="expected the loss function to return a Variable"):
        optimizer.update(lambda: (1, 2))


def test_gradients_are_cleared_before_backward():
    model = with_gradients(model_of([1.0]), [100.0])
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    optimizer.update(lambda: F.sum(model.p0))
    np.testing.assert_array_equal(model.p0.array, [0])
    optimizer.use_cleargrads(False)
    optimizer.update(lambda: core.Variable(np.zeros(())))
    np.testing.assert_array_equal(model.p0.grad, [0])
    optimizer.use_cleargrads()
    with pytest.warns(UserWarning, match="the loss depends on no parameter"):
        optimizer.update(lambda: core.Variable(np.zeros(())))
    assert model.p0.grad is None


def test_reallocating_cleared_gradients():
    model = model_of([1.0])
    optimizer = optimizers.SGD().setup(model)
    optimizer.reallocate_cleared_grads()
    np.testing.assert_array_equal(model.p0.grad, [0])


def test_the_graph_of_an_owned_loss_dies_during_the_step():
    class Watching(core.Link):
        def __init__(self):
            super().__init__()
            self.held = []

        def forward(self, x):
            y = F.tanh(x)
            self.held.append(weakref.ref(y.creator_node))
            return y

    body = core.Sequential(L.Linear(3, 4), Watching(), L.Linear(4, 2))
    model = L.Classifier(body)
    optimizer = optimizers.SGD().setup(model)
    gc.disable()
    try:
        optimizer.update(model, np.ones((5, 3), "f"), np.zeros(5, "i"))
        assert body[1].held[0]() is None, "no collector is needed, and no result keeps the graph"
    finally:
        gc.enable()
    assert model.y.shape == (5, 2) and not model.y.requires_grad
    model(np.ones((5, 3), "f"), np.zeros(5, "i"))
    assert model.y.creator is not None, "outside a step results keep their graph"


def test_lossfun_may_be_left_out():
    model = with_gradients(model_of([1.0]), [0.5])
    optimizers.SGD(lr=1.0).setup(model).update()
    np.testing.assert_array_equal(model.p0.array, [0.5])


def test_nothing_moves_where_one_gradient_does_not_fit():
    for bad in (np.zeros(3), np.zeros(2, "f")):
        model = with_gradients(model_of([1.0, 2.0], [1.0, 2.0]), [1.0, 1.0], [1.0, 1.0])
        optimizer = optimizers.MomentumSGD().setup(model)
        model.p1._grad = bad
        with pytest.raises(UpdateError, match=r"update p1: expected a gradient of (shape|dtype)"):
            optimizer.update()
        np.testing.assert_array_equal(model.p0.array, [1, 2])
        assert optimizer.t == 0 and model.p0.update_rule.t == 0 and model.p0.version == 0


class Refusing(core.UpdateRule):
    refuses: bool = False

    def check(self, param):
        if self.refuses:
            raise UpdateError("no")

    def step(self, xp, param, grad):
        param -= grad


@pytest.mark.parametrize("who", ["the rule", "a hook"])
def test_a_refusal_leaves_gradients_as_they_came(who):
    model = with_gradients(model_of([1.0], [2.0]), [8.0], [8.0])
    optimizer = type("Descent", (core.GradientMethod,), {"rule": Refusing})().setup(model)
    optimizer.set_loss_scale(8.0)
    if who == "the rule":
        model.p1.update_rule.hyperparam.refuses = True
    else:
        optimizer.add_hook(lambda optimizer: 1 / 0, "refusing")
    with pytest.raises((UpdateError, ZeroDivisionError)):
        optimizer.update()
    assert [p.grad.tolist() for p in model.params()] == [[8.0], [8.0]]
    model.p1.update_rule.hyperparam.refuses = False
    if who == "a hook":
        optimizer.remove_hook("refusing")
    optimizer.update()
    assert [p.array.tolist() for p in model.params()] == [[0.0], [1.0]]


def test_a_hook_may_take_a_parameter_out_of_the_step():
    model = with_gradients(model_of([1.0], [1.0], [1.0]), [1.0], [1.0], [1.0])
    optimizer = optimizers.SGD(lr=1.0).setup(model)

    def choose(optimizer):
        model.p0.cleargrad()
        model.p1.update_rule.enabled = False

    optimizer.add_hook(choose)
    optimizer.update()
    assert [p.array.tolist() for p in model.params()] == [[1.0], [1.0], [0.0]]
    assert [p.update_rule.t for p in model.params()] == [p.version for p in model.params()]
    assert model.p2.version == 1 and model.p0.version == 0


def test_a_parameter_that_links_share_makes_one_step():
    model = core.Chain(a=model_of([1.0]), b=model_of([2.0]))
    del model.b.p0
    with model.b.init_scope():
        model.b.p0 = model.a.p0
    optimizer = optimizers.MomentumSGD(lr=0.5).setup(model)
    optimizer.add_hook(hooks.WeightDecay(1.0))
    optimizer.update(lambda: F.sum(model.a.p0 * model.b.p0))
    assert model.a.p0.array.tolist() == [-0.5] and model.a.p0.update_rule.t == 1
    assert [key for key in saved(optimizer) if key.endswith("/v")] == ["a/p0/v"]


@pytest.mark.parametrize(
    "name", sorted({*core.registry.catalogue("optimizers").names()} - {"LBFGS"})
)
def test_an_optimizer_whose_rules_another_has_replaced_says_so(name, recwarn):
    def step(optimizer):
        with_gradients(optimizer.target, [1.0], [2.0])
        optimizer.update()
        return [str(found.message) for found in recwarn if recwarn.pop()]

    first = getattr(optimizers, name)().setup(model := model_of([1.0], [2.0]))
    assert not step(first) and not step(first)
    for copied in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert not step(copied)
    model.p0.update_rule = optimizers.SGD().create_update_rule()
    assert not step(first)  # another rule for a part is meant so
    second = optimizers.SGD(lr=0.5).setup(model)
    [told] = step(first)
    assert f"{name}.update: another optimizer has been set up for the parameters" in told
    assert not step(first) and not step(second)
    assert not step(first.setup(model))
    part = core.Link()
    with part.init_scope():
        part.shared = model.p1
    third = optimizers.SGD(lr=0.5).setup(part)
    [told] = step(first)
    assert f"{name}.update: another optimizer has been set up for /p1 of this" in told
    assert not step(first) and not third.update()


@pytest.mark.parametrize("accumulates", [False, True])
def test_a_loss_that_trains_nothing_is_told_once(accumulates, recwarn):
    def step(loss):
        if accumulates:
            optimizer.accumulate(1.0, loss)
        optimizer.update(*([] if accumulates else [loss]))
        return [str(found.message) for found in recwarn if recwarn.pop()]

    def detached():
        return F.sum(core.Variable(model.p0.array))

    optimizer = optimizers.SGD(lr=1.0).setup(model := model_of([3.0]))
    assert not step(lambda: F.sum(model.p0))
    [told] = step(detached)
    assert "SGD.update: the loss depends on no parameter of this" in told
    assert not step(detached) and model.p0.array == [2.0] and optimizer.t == 3
    model.disable_update()
    assert not step(detached) and not step(optimizer.setup(model) and detached)
    with pytest.raises(GraphError, match="parameters that are all frozen"):
        step(lambda: F.sum(model.p0))


def clear_before(model, loss):
    model.cleargrads()
    loss().backward()


def zero_before(model, loss):
    model.zerograds()
    loss().backward()


def give(model, loss):
    model.p0.grad = np.full(2, 3.0)


def clear_after_backward(model, loss):
    loss().backward()
    model.cleargrads()


@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        (lambda model, loss: loss().backward(), "the gradients are those of the last step as well"),
        (clear_after_backward, "no parameter of this .* has a gradient, so that nothing was"),
        (lambda model, loss: loss(), "no parameter of this .* has a gradient, so that nothing was"),
        (clear_before, None),
        (zero_before, None),
        (give, None),
    ],
)
def test_a_step_without_the_gradients_of_its_own_loss_is_told_once(prepare, told, recwarn):
    model = model_of([3.0, 2.0])
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    for _ in range(4):
        prepare(model, lambda: F.sum(model.p0**2))
        optimizer.update()
        copy.deepcopy(optimizer)  # what is remembered of a step concerns no copy
    messages = [str(found.message) for found in recwarn]
    assert len(messages) == (told is not None)
    assert all(re.search(f"SGD.update: {told}", message) for message in messages)


def test_the_same_gradients_may_make_several_steps():
    model = with_gradients(model_of([3.0]), [1.0])
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    for _ in range(3):
        optimizer.update()
    assert model.p0.array == [0.0]


def test_rules_that_are_not_an_optimizers_are_nobodys():
    class Wrapper(optimizers.SGD):
        def create_update_rule(self):
            return self.target.inner.create_update_rule()

    model = with_gradients(model_of([1.0]), [1.0])
    model.inner = optimizers.MomentumSGD()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Wrapper().setup(model).update()
        optimizer = optimizers.SGD().setup(model)
        model.p0.update_rule = type(optimizers.Adam().create_update_rule())()
        optimizer.update()
    assert model.p0.update_rule.t == 1


def test_epochs():
    optimizer = optimizers.SGD().setup(model_of([1.0]))
    optimizer.new_epoch()
    optimizer.new_epoch(auto=True)
    assert optimizer.epoch == 2
    with pytest.raises(UpdateError, match="the updater counts the epochs"):
        optimizer.new_epoch()


# -- hyper-parameters -------------------------------------------------------------------------


def test_hyperparameters_are_shared_until_set():
    model = with_gradients(model_of([1.0], [1.0]), [1.0], [1.0])
    optimizer = optimizers.SGD(0.5).setup(model)
    model.p1.update_rule.hyperparam.lr = 0.25
    optimizer.lr = 1.0
    optimizer.update()
    np.testing.assert_array_equal(model.p0.array, [0.0])
    np.testing.assert_array_equal(model.p1.array, [0.75])
    assert model.p1.update_rule.lr == 0.25 and optimizer.hyperparam.lr == 1.0
    assert optimizer.hyperparam.get_dict() == {"lr": 1.0}
    assert repr(optimizer) == "SGD(lr=1.0)"
    assert repr(model.p1.update_rule) == "SGDRule(lr=0.25)"


def test_names_are_free_where_none_are_declared():
    parent = core.Hyperparameter()
    parent.lr = 0.1
    child = core.Hyperparameter(parent)
    child.z = 2
    assert child.get_dict() == {"lr": 0.1, "z": 2} and parent.get_dict() == {"lr": 0.1}
    with pytest.raises(UnknownName):
        core.Hyperparameter(optimizers.SGD().hyperparam).z = 2


def test_misspelt_hyperparameters_get_the_nearest():
    with pytest.raises(TypeError, match="Did you mean 'alpha'"):
        optimizers.Adam(alhpa=0.1)
    with pytest.raises(TypeError, match=r"'lr'. Did you mean 'alpha'. It takes alpha, b"):
        optimizers.Adam(lr=0.1)
    optimizer = optimizers.Adam().setup(model_of([1.0]))
    with pytest.raises(AttributeError, match="Adam.lr: it follows .* Set Adam.alpha instead"):
        optimizer.lr = 0.1
    with pytest.raises(AttributeError, match="Did you mean 'alpha'"):
        optimizer.alpah = 1
    with pytest.raises(UnknownName, match="Did you mean 'beta1'"):
        optimizer.target.p0.update_rule.hyperparam.btea1 = 1
    with pytest.raises(UnknownName, match="Did you mean 'beta1'"):
        optimizer.hyperparam.btea1  # noqa: B018
    with pytest.raises(UnknownName):
        optimizer.hyperparam.btea1 = 1


@pytest.mark.parametrize("name", core.registry.catalogue("optimizers").names())
@pytest.mark.parametrize("wrong", ["a", None, [0.1], 0.1j])
def test_what_is_no_number_is_refused_by_name(name, wrong):
    make = getattr(optimizers, name)
    for argument, parameter in inspect.signature(make).parameters.items():
        flag = isinstance(parameter.default, bool)
        refusal = f"expected {'True or False' if flag else 'a number'} for {argument}, got"
        with pytest.raises(TypeError, match=f"{name}: {refusal}"):
            make(**{argument: wrong})
        with pytest.raises(ValueError, match=f"{name}: {refusal} nan"):
            make(**{argument: float("nan")})
        optimizer = make()
        with pytest.raises(TypeError, match=f"{name}: {refusal}"):
            setattr(optimizer, argument, wrong)
        if argument in optimizer.hyperparam.get_dict():
            with pytest.raises(TypeError, match=refusal):
                setattr(optimizer.create_update_rule().hyperparam, argument, wrong)
        value = getattr(optimizer, argument)
        scalar = np.int32 if type(value) is int else np.float32
        for number in (True, 1) if flag else (scalar(value), np.array(value)):
            setattr(optimizer, argument, number)


def test_scalars_of_numpy_widen_no_arrays():
    model = with_gradients(model_of([1.0], dtype="float32"), [1.0])
    optimizer = optimizers.SGD(np.float64(0.1)).setup(model)
    assert type(optimizer.lr) is float
    optimizer.lr = np.float64(0.3)
    assert type(optimizer.lr) is float
    model.p0.update_rule.hyperparam.lr = np.float32(0.5)
    assert type(model.p0.update_rule.lr) is float


def test_a_setting_that_is_no_number_may_be_anything():
    class Worded(core.UpdateRule):
        how: str = "up"

        def step(self, xp, param, grad):
            param += grad if self.how == "up" else -grad

    assert Worded(how="down").how == "down"


def test_signatures():
    assert str(inspect.signature(optimizers.MomentumSGD)) == (
        "(lr: float = 0.01, momentum: float = 0.9)"
    )
    names = "alpha beta1 beta2 eps eta weight_decay_rate amsgrad adabound final_lr gamma"
    assert list(inspect.signature(optimizers.Adam).parameters) == names.split()
    assert list(inspect.signature(optimizers.AdaBound).parameters)[:5] == [
        "alpha", "beta1", "beta2", "final_lr", "gamma",
    ]  # fmt: skip


def test_former_methods_name_their_cure():
    optimizer = optimizers.SGD()
    with pytest.raises(AttributeError, match=r"zero_grads no longer exists. Call target.cleargrad"):
        optimizer.zero_grads()
    with pytest.raises(AttributeError, match="Did you mean 'add_hook'"):
        optimizer.add_hok  # noqa: B018


def test_adam_rates():
    optimizer = optimizers.Adam(alpha=0.1).setup(with_gradients(model_of([1.0]), [1.0]))
    assert optimizer.lr == optimizer.alpha_t == 0.1
    optimizer.update()
    assert optimizer.lr == pytest.approx(0.1 * (1 - 0.999) ** 0.5 / (1 - 0.9))
    with pytest.raises(AttributeError):
        optimizer.lr = 1


# -- rules of one's own -----------------------------------------------------------------------


class Growing(core.UpdateRule):
    rate: float = 2.0
    state_names = {"seen": 1.0}

    def step(self, xp, param, grad, seen):
        seen *= self.rate
        param += seen * grad


def test_a_rule_is_hyperparameters_state_and_a_step():
    class Grow(core.GradientMethod):
        rule = Growing

    model = with_gradients(model_of([1.0]), [1.0])
    optimizer = Grow(rate=3.0).setup(model)
    optimizer.update()
    np.testing.assert_array_equal(model.p0.array, [4.0])
    np.testing.assert_array_equal(model.p0.update_rule.state["seen"], [3.0])
    assert Growing(rate=5.0).rate == 5.0 and Growing().rate == 2.0
    assert Growing().state is None


def test_a_variant_names_its_arguments_and_settings():
    class Grow(core.GradientMethod):
        rule = Growing

    class Doubling(Grow):
        arguments = ()
        settings = {"rate": 2.5}

    assert str(inspect.signature(Grow)) == "(rate: float = 2.0)"
    assert str(inspect.signature(Doubling)) == "()"
    assert Doubling().rate == 2.5 and Grow().rate == 2.0
    with pytest.raises(TypeError, match="Doubling: got an unexpected keyword argument 'rate'"):
        Doubling(rate=1.0)
    with pytest.raises(DeclarationError, match="no hyper-parameter 'raet'; .* Did you mean 'rate'"):

        class Wrong(Grow):
            settings = {"raet": 1.0}


def test_a_rule_that_contradicts_itself_is_refused_when_made():
    with pytest.raises(DeclarationError, match="Did you mean 'v1'"):

        class Wrong(core.UpdateRule):
            state_names = ("v",)

            def step(self, xp, param, grad, v1):
                pass

    with pytest.raises(DeclarationError, match="a tuple of names"):

        class Text(core.UpdateRule):
            state_names = "v"

    with pytest.raises(DeclarationError, match="part of every update rule"):

        class Taken(core.UpdateRule):
            t: int = 3

    with pytest.raises(NotImplementedError, match="defines no step"):
        model = with_gradients(model_of([1.0]), [1.0])
        model.p0.update_rule = core.UpdateRule()
        model.p0.update()


@pytest.mark.parametrize("mutable", [True, False])
def test_a_step_that_gives_what_it_should_change_is_refused(mutable, monkeypatch):
    class Gives(core.UpdateRule):
        def step(self, xp, param, grad):
            return param - grad

    monkeypatch.setattr(core.backend.get("numpy"), "mutable", mutable)
    model = with_gradients(model_of([1.0]), [1.0])
    model.p0.update_rule = Gives()
    with pytest.raises(DeclarationError, match=r"Gives.step: expected it to change param in place"):
        model.p0.update()


def test_a_rule_inherits_and_changes_defaults():
    class Faster(Growing):
        rate = 10.0

    assert Faster().rate == 10.0 and Growing().rate == 2.0
    assert Faster(rate=1.0).rate == 1.0


def test_rules_in_the_older_way():
    defaults = core.Hyperparameter()
    defaults.lr = 0.5

    class OldRule(core.UpdateRule):
        def __init__(self, parent_hyperparam=None, lr=None):
            super().__init__(parent_hyperparam or defaults)
            if lr is not None:
                self.hyperparam.lr = lr

        def init_state(self, param):
            self.state["count"] = param.xp.zeros_like(param.array)

        def update_core_cpu(self, param):
            self.state["count"] += 1
            param.array -= self.hyperparam.lr * param.grad

        def update_core_gpu(self, param):
            raise AssertionError("these arrays are on the host")

    class Old(core.GradientMethod):
        def __init__(self, lr=0.5):
            super().__init__()
            self.hyperparam.lr = lr

        def create_update_rule(self):
            return OldRule(self.hyperparam)

    model = with_gradients(model_of([1.0]), [1.0])
    optimizer = Old(0.25).setup(model)
    optimizer.update()
    np.testing.assert_array_equal(model.p0.array, [0.75])
    store = saved(optimizer)
    assert store["p0/count"].tolist() == [1.0]
    fresh = Old().setup(model_of([1.0]))
    load(fresh, store)
    assert fresh.target.p0.update_rule.state["count"].tolist() == [1.0]
    assert OldRule(lr=3).hyperparam.lr == 3


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_backend_says_which_of_two_methods_is_for_its_arrays(on_gpu, monkeypatch):
    class Rule(core.UpdateRule):
        def update_core_cpu(self, param):
            param.array += 1

        def update_core_gpu(self, param):
            param.array += 2

    monkeypatch.setattr(core.backend.get("strict"), "on_gpu", on_gpu)
    model = model_of([0.0]).to_device("strict")
    model.p0.grad = model.p0.xp.zeros_like(model.p0.array)
    model.p0.update_rule = Rule()
    model.p0.update()
    assert float(model.p0.array[0]) == 1 + on_gpu


def test_a_rule_that_overrides_what_optimizers_do_not_call_is_refused():
    with pytest.raises(DeclarationError, match=r"Mine: .* Override update_core\(\)"):
        type("Mine", (core.UpdateRule,), {"update": lambda self, param: None})


def test_an_optimizer_without_a_rule_says_so():
    with pytest.raises(NotImplementedError, match="names no update rule"):
        core.GradientMethod().setup(model_of([1.0]))


# -- saving -----------------------------------------------------------------------------------


def test_keys_of_what_is_saved():
    model = core.Chain(a=model_of([1.0]))
    optimizer = optimizers.Adam(amsgrad=True).setup(model)
    assert set(saved(optimizer)) == {
        "t", "epoch", "a/p0/t", "a/p0/m", "a/p0/v", "a/p0/vhat",
    }  # fmt: skip
    assert saved(optimizer)["a/p0/m"] is None


def test_loading_before_the_first_step_and_before_sizes_are_known():
    def start():
        model = L.Linear(2, initialW=0.5)
        return optimizers.Adam(alpha=0.1).setup(model), model

    x = np.ones((4, 3), "f")
    optimizer, model = start()
    for _ in range(3):
        optimizer.update(lambda: F.sum(model(x) ** 2))
    fresh, target = start()
    load(fresh, saved(optimizer))
    load(target, saved(model))
    for o, m in ((optimizer, model), (fresh, target)):
        for _ in range(3):
            o.update(lambda m=m: F.sum(m(x) ** 2))
    np.testing.assert_array_equal(target.W.array, model.W.array)
    assert fresh.t == 6 and target.W.update_rule.t == 6


def test_what_a_file_lacks_is_made_anew(tmp_path):
    optimizer = optimizers.AdaBound(alpha=0.1).setup(with_gradients(model_of([1.0]), [1.0]))
    optimizer.update()
    store = {k: v for k, v in saved(optimizer).items() if k != "p0/initial_alpha"}
    np.savez(tmp_path / "optimizer.npz", **store)
    fresh = optimizers.AdaBound(alpha=0.1).setup(with_gradients(model_of([1.0]), [1.0]))
    core.serializers.load_npz(tmp_path / "optimizer.npz", fresh, strict=False)
    fresh.target.p0.array = optimizer.target.p0.array.copy()
    for one in (optimizer, fresh):
        one.update()
    assert fresh.target.p0.array == optimizer.target.p0.array
    assert fresh.target.p0.update_rule.state == optimizer.target.p0.update_rule.state


@pytest.mark.parametrize("kind", [optimizers.AdaBound, optimizers.AMSBound])
def test_bounds_that_are_multiples_of_a_rate_of_zero_are_refused(kind):
    optimizer = kind(alpha=0.0).setup(with_gradients(model_of([1.0]), [1.0]))
    optimizer.alpha = 0.1  # too late: the rate at setup is what later ones are divided by
    for _ in range(2):
        with pytest.raises(UpdateError, match="expected a positive alpha at setup, got 0"):
            optimizer.update()
    assert optimizer.target.p0.array == 1.0 and optimizer.t == 0
    warmed = kind(alpha=0.1).setup(with_gradients(model_of([1.0]), [1.0]))
    warmed.alpha = 0.0
    warmed.update()
    assert warmed.target.p0.array == 1.0
    warmed.alpha = 0.1
    warmed.update()
    assert warmed.target.p0.array < 1.0


def test_a_step_before_which_a_hook_raises_is_not_counted():
    optimizer = optimizers.Adam().setup(with_gradients(model_of([1.0]), [1.0]))
    rule = optimizer.target.p0.update_rule
    seen = []

    def refuses(rule, param):
        seen.append(rule.t)
        raise RuntimeError("not this one")

    rule.add_hook(refuses)
    with pytest.raises(RuntimeError, match="not this one"):
        optimizer.update()
    assert seen == [1] and rule.t == 0 and optimizer.target.p0.array == 1.0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("name", ["SGD", "Adam", "Lion"])
def test_hooks_of_rules_that_raise_leave_no_parameter_behind(name, place, dtype):
    def fails(rule, param):
        seen.append(rule.t)
        if failing and len(seen) == place + 1:
            raise RuntimeError("not this one")

    def trained(timing, steps):
        model = model_of([1.0], [2.0], [3.0], [4.0], dtype=dtype)
        optimizer = getattr(optimizers, name)(0.5).setup(with_gradients(model, *[[1.0]] * 4))
        optimizer.use_fp32_update()
        optimizer.set_loss_scale(0.5)
        for i in (0, 1, 3):
            getattr(model, f"p{i}").update_rule.add_hook(fails, timing=timing)
        for _ in range(steps):
            optimizer.update()
        return optimizer

    def state_of(optimizer):
        values = [p.array.tolist() for p in optimizer.target.params()]
        return optimizer.t, values, [p.update_rule.t for p in optimizer.target.params()]

    for timing in ("pre", "post"):
        seen, failing = [], False
        started, stepped = trained(timing, 0), trained(timing, 1)
        seen, failing, optimizer = [], True, trained(timing, 0)
        with pytest.raises(RuntimeError, match="not this one"):
            optimizer.update()
        assert state_of(optimizer) == state_of(started if timing == "pre" else stepped)
        assert {*seen} == {1} and len(seen) == (place + 1 if timing == "pre" else 3)
        if timing == "pre":
            optimizer.update()  # tried again, of the gradients that there were
            assert state_of(optimizer) == state_of(stepped)


def test_parameters_that_moved_before_a_rule_raised_are_finished():
    """Their hooks were left out, and what a float32 master had moved was not in the parameter."""

    class Refusing(core.UpdateRule):
        def step(self, xp, param, grad):
            if refused in param:
                raise RuntimeError("not this one")
            param -= grad

    class Optimizer(core.GradientMethod):
        rule = Refusing

    seen, refused = [], 3.0
    model = with_gradients(model_of([1.0], [2.0], [3.0], dtype="float16"), *[[1.0]] * 3)
    optimizer = Optimizer().setup(model)
    optimizer.use_fp32_update()
    for parameter in model.params():
        parameter.update_rule.add_hook(lambda _, p: seen.append(p.array.item()), "see", "post")
    with pytest.raises(RuntimeError, match="not this one"):
        optimizer.update()
    assert [p.array.item() for p in model.params()] == [0, 1, 3] and seen == [0, 1]


def test_state_follows_the_parameter_to_another_backend():
    model = with_gradients(model_of([1.0, 2.0]), [1.0, 1.0])
    optimizer = optimizers.MomentumSGD(lr=0.5).setup(model)
    optimizer.update()
    model.to_device("strict")
    optimizer.update()
    assert core.backend.of(model.p0.update_rule.state["v"]).name == "strict"
    np.testing.assert_allclose(core.backend.to_host(model.p0), [1 - 0.5 - 0.95, 2 - 0.5 - 0.95])


BUNDLED = [name for name in dir(optimizers) if name[0].isupper()]


@pytest.mark.filterwarnings("ignore:.* is 0 in float16")
@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize(
    "before, masters, after",
    [("float16", True, "float32"), ("float32", False, "float64"), ("float64", False, "float32")],
)
def test_state_follows_the_dtype_of_what_the_rule_works_on(name, before, masters, after):
    model = model_of([1.0, 2.0], dtype=before)
    optimizer = getattr(optimizers, name)().setup(model)
    with_gradients(model, [1.0, 1.0])
    optimizer.update()
    optimizer.use_fp32_update(masters)
    if not masters:
        model.p0.array = model.p0.array.astype(after)
        model.p0.grad = np.ones(2, after)
    optimizer.update()
    state = model.p0.update_rule.state
    arrays = [value for value in state.values() if isinstance(value, np.ndarray)]
    assert {str(array.dtype) for array in arrays} <= {after}


CHANGING = {
    "decay": lambda: hooks.WeightDecay(0.1),
    "lasso": lambda: hooks.Lasso(0.1),
    "norm": lambda: hooks.GradientClipping(0.5),
    "values": lambda: hooks.GradientHardClipping(-0.5, 0.5),
    "noise": lambda: hooks.GradientNoise(0.1, lambda xp, shape, dtype, *_: xp.ones(shape, dtype)),
    "layers": lambda: hooks.GradientLARS(),
}


@pytest.mark.parametrize("of_rules", [False, True])
@pytest.mark.parametrize("hook", CHANGING)
def test_a_gradient_that_cannot_be_changed_is_copied_for_hooks(hook, of_rules):
    """As one that another library has handed out, or a broadcast."""

    def trained(fixed):
        optimizer = optimizers.MomentumSGD(0.1).setup(model_of([1.0], [2.0, 3.0]))
        if of_rules and hook != "norm":  # which is that of all gradients
            for parameter in optimizer.target.params():
                parameter.update_rule.add_hook(CHANGING[hook]())
        else:
            optimizer.add_hook(CHANGING[hook]())
        for step in range(3):
            grads = [np.array([step + 1.0]), np.full(2, 1.5)]
            for parameter, grad in zip(optimizer.target.params(), grads, strict=True):
                grad.flags.writeable = not fixed
                parameter.grad = grad
            optimizer.update()
            assert not fixed or ([g.tolist() for g in grads] == [[step + 1.0], [1.5, 1.5]])
        return [p.array for p in optimizer.target.params()]

    np.testing.assert_equal(trained(fixed=True), trained(fixed=False))


@pytest.mark.parametrize("steps", [0, 2])
@pytest.mark.parametrize("name", BUNDLED)
def test_an_array_that_cannot_be_changed_is_refused_before_anything_moves(name, steps):
    model = with_gradients(model_of([1.0], [2.0, 3.0]), [1.0], [1.0, 1.0])
    optimizer = getattr(optimizers, name)().setup(model)
    for _ in range(steps):
        optimizer.update()
    model.p1.array.flags.writeable = False
    before = model.p0.array.copy()
    with pytest.raises(UpdateError, match=r"update p1: .* read-only .* copy"):
        optimizer.update()
    np.testing.assert_array_equal(model.p0.array, before)
    assert optimizer.t == model.p0.update_rule.t == steps
    model.p1.array = model.p1.array.copy()
    optimizer.update()
    assert optimizer.t == steps + 1


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "SGD"])
def test_state_for_another_shape_is_refused_before_anything_moves(name, dtype, loaded):
    def started(*values):
        optimizer = getattr(optimizers, name)()
        optimizer.use_fp32_update()
        return optimizer.setup(model_of([1.0], [*values], dtype=dtype))

    optimizer = started(2.0, 3.0)
    with_gradients(optimizer.target, [1.0], [1.0, 1.0])
    optimizer.update()
    if loaded:
        other = started(2.0, 3.0, 4.0)
        load(other, saved(optimizer))
        optimizer = other
    model = optimizer.target
    model.p1.array = np.array([2.0, 3.0, 4.0], dtype)
    with_gradients(model, [1.0], [1.0, 1.0, 1.0])
    before, t = model.p0.array.copy(), optimizer.t
    with pytest.raises(
        UpdateError, match=r"update p1: .* shape \(3,\), got \(2,\).* setup\(link\)"
    ):
        optimizer.update()
    np.testing.assert_array_equal(model.p0.array, before)
    assert optimizer.t == t and model.p0.update_rule.t == model.p1.update_rule.t == 1
    optimizer.setup(model).update()
    assert optimizer.t == 1


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_clones(clone):
    optimizer = optimizers.Adam(alpha=0.5).setup(with_gradients(model_of([1.0]), [1.0]))
    optimizer.add_hook(hooks.WeightDecay(0.1))
    optimizer.update()
    duplicate = clone(optimizer)
    assert duplicate.alpha == 0.5 and duplicate.t == 1 and duplicate.target is not optimizer.target
    duplicate.alpha = 0.1
    assert duplicate.target.p0.update_rule.alpha == 0.1 and optimizer.alpha == 0.5
    with pytest.raises(HookError):
        duplicate.add_hook(hooks.WeightDecay(0.1))


# -- 16-bit parameters and loss scaling -------------------------------------------------------


def test_float32_masters_keep_what_float16_would_lose():
    def train(wide):
        model = model_of([1.0], dtype="float16")
        optimizer = optimizers.SGD(lr=1e-4).setup(model)
        if wide:
            optimizer.use_fp32_update()
        for _ in range(100):
            with_gradients(model, [1.0])
            optimizer.update()
        return model.p0.array

    assert train(False).tolist() == [1.0]
    np.testing.assert_allclose(train(True), [0.99], rtol=1e-3)
    assert train(True).dtype == "float16"


def written_in_place(model, values):
    model.p0.array[...] = values
    model.p0.version += 1


def written_as_an_item(model, values):
    with core.no_backprop_mode():
        model.p0[...] = values


WRITERS = {
    "in place": written_in_place,
    "as an item": written_as_an_item,
    "the parameter's array": lambda model, values: setattr(model.p0, "array", values),
    "the link's attribute": lambda model, values: setattr(model, "p0", values),
    "another's elements": lambda model, values: model.p0.copydata(core.Variable(values)),
    "another link's": lambda model, values: model.copyparams(model_of(values, dtype="float16")),
}


@pytest.mark.parametrize("how", WRITERS)
def test_masters_take_over_what_others_write(how):
    model = with_gradients(model_of([1.0, 1.0], dtype="float16"), [1.0, 1.0])
    optimizer = optimizers.SGD(lr=1e-5).setup(model)
    optimizer.use_fp32_update()
    optimizer.update()
    WRITERS[how](model, np.array([5.0, 1.0], "float16"))
    for _ in range(99):
        optimizer.update()
    np.testing.assert_allclose(model.p0.update_rule._master.array, [5 - 99e-5, 0.999], rtol=1e-5)


@pytest.mark.parametrize("wide", [False, True])
def test_a_loss_scale_is_divided_out(wide):
    def train(scale):
        model = model_of([0.5, -1.0], dtype="float16" if wide else "float64")
        optimizer = optimizers.SGD(lr=0.125).setup(model)
        optimizer.use_fp32_update(wide)
        optimizer.set_loss_scale(scale)
        optimizer.add_hook(hooks.GradientClipping(0.5))
        for _ in range(3):
            optimizer.update(lambda: F.sum(model.p0 * model.p0))
        return model.p0.array

    np.testing.assert_array_equal(train(1024.0), train(None))
    for wrong in (-1, np.inf):
        with pytest.raises(ValueError, match="expected a positive number"):
            train(wrong)


def test_dynamic_loss_scaling_skips_steps_that_overflow():
    model = model_of([1.0])
    optimizer = optimizers.MomentumSGD(lr=1.0).setup(model)
    optimizer.loss_scaling(interval=2)
    assert optimizer.loss_scale == 1
    for bad in (np.inf, np.nan):
        optimizer.update(lambda bad=bad: F.sum(model.p0 * np.array([bad])))
        assert model.p0.array.tolist() == [1.0] and model.p0.update_rule.t == 0
        assert model.p0.update_rule.state is None
    assert optimizer.loss_scale == 1 and optimizer.t == 2  # a step that is skipped counts here
    for scale in (1, 2, 2, 4):
        optimizer.update(lambda: F.sum(model.p0))
        assert optimizer.loss_scale == scale
    assert optimizer.t == 6 and model.p0.update_rule.t == 4
    fresh = optimizers.MomentumSGD().setup(model_of([1.0]))
    fresh.loss_scaling(interval=2)
    load(fresh, saved(optimizer))
    for _ in range(2):
        assert fresh.loss_scale == 4
        fresh.update(lambda: F.sum(fresh.target.p0))
    assert fresh.loss_scale == 8
    optimizer.loss_scaling(scale=8.0)
    optimizer.update(lambda: F.sum(model.p0 * np.array([np.inf])))
    assert optimizer.loss_scale == 8.0 and optimizer.t == 7
    with pytest.raises(TypeError, match="expected scale to be a number or None"):
        optimizer.loss_scaling(scale="a")
    with pytest.raises(TypeError, match="expected interval to be a whole number"):
        optimizer.loss_scaling(interval="a")
    with pytest.raises(ValueError, match="interval of at least 1"):
        optimizer.loss_scaling(interval=0)


# -- kernels ----------------------------------------------------------------------------------


def test_a_backend_may_offer_a_kernel_for_a_rule():
    home = core.backend.get("numpy")
    assert Growing not in home.update_kernels
    calls = []

    def kernel(rule, xp, param, grad, seen):
        calls.append(rule.rate)
        if rule.rate == 2.0:
            return NotImplemented
        param += 100
        return None

    home.update_kernels[Growing] = kernel
    try:
        for rate, expected in ((2.0, 3.0), (3.0, 101.0)):
            model = with_gradients(model_of([1.0]), [1.0])
            model.p0.update_rule = Growing(rate=rate)
            model.p0.update()
            assert model.p0.array.tolist() == [expected]
    finally:
        del home.update_kernels[Growing]
    assert calls == [2.0, 3.0]


def test_a_refused_hook_is_a_key_error_and_a_value_error():
    rule = optimizers.SGD().create_update_rule()
    rule.add_hook(print)
    for error in (KeyError, ValueError):
        with pytest.raises(error, match="a hook named 'print' is here already"):
            rule.add_hook(print)


def test_the_rate_of_a_rule_of_adam():
    model = with_gradients(model_of([1.0]), [1.0])
    optimizer = optimizers.Adam().setup(model)
    optimizer.update()
    assert model.p0.update_rule.lr == optimizer.lr


@pytest.mark.parametrize("what", [lambda m: m, lambda m: m.params(), lambda m: list(m.params())])
def test_what_to_train_is_given_to_setup(what):
    model = L.Linear(2, 3)
    with pytest.raises(TypeError, match=r"Adam: expected hyperparameters.*\.setup\(model\)"):
        optimizers.Adam(what(model), alpha=0.1)
    optimizers.SGD(np.array(0.1)).setup(model)


def test_the_names_of_state_go_on_under_what_they_were_called_at_first():
    class Heavy(core.UpdateRule):
        state = ("v",)

        def step(self, xp, param, grad, v):
            v += grad

    rule = Heavy()
    assert Heavy.state_names == ("v",) and rule.state is None
    parameter = core.Parameter(np.ones(2))
    parameter.grad = np.ones(2)
    rule.update(parameter)
    assert rule.state["v"].tolist() == [1.0, 1.0]
