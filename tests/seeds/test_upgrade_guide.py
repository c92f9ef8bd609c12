"""The upgrade guide to version 2: each piece of code it tells people to write runs and does it."""

import math

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core import initializers, optimizers, serializers, training
from core.training import extensions


def ones(*shape):
    return np.ones(shape, "f")


# -- configuration ---------------------------------------------------------------------------------


class Dropping(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(20)

    def __call__(self, x):
        return F.dropout(self.l1(x))


def test_the_mode_of_training_is_configuration():
    model = Dropping()
    x = ones(50, 4)
    assert (model(x).array == 0).any()
    with core.using_config("train", False):
        y = model(x)
        assert not core.config.train
    assert (y.array == model.l1(x).array).all() and core.config.train


ENTRIES = [
    "cudnn_deterministic",
    "debug",
    "enable_backprop",
    "keep_graph_on_report",
    "train",
    "type_check",
    "use_cudnn",
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_are_set_by_assignment_and_by_blocks(entry):
    before = getattr(core.config, entry)
    other = "never" if entry == "use_cudnn" else not before
    with core.using_config(entry, other):
        assert getattr(core.config, entry) == other
    assert getattr(core.config, entry) == before
    setattr(core.config, entry, other)
    assert getattr(core.config, entry) == other
    assert getattr(core.global_config, entry) == before
    delattr(core.config, entry)
    assert getattr(core.config, entry) == before


def test_the_global_value_counts_where_the_thread_has_none():
    with core.using_config("train", False, core.global_config):
        assert core.config.train is False
        with core.using_config("train", True):
            assert core.config.train is True


def test_no_graph_is_made_without_backprop():
    model = L.Linear(3, 2)
    x = core.Variable(ones(1, 3))
    assert model(x).creator is not None
    with core.no_backprop_mode():
        y = model(x)
        with core.force_backprop_mode():
            assert model(x).creator is not None
    assert y.creator is None and not y.requires_grad


def test_debug_mode_by_function():
    core.set_debug(True)
    try:
        assert core.is_debug() and core.config.debug
    finally:
        del core.config.debug
    assert not core.is_debug()


# -- variables, nodes, parameters ------------------------------------------------------------------


def test_the_graph_is_made_of_nodes():
    x = core.Variable(ones(2, 3))
    y = F.exp(x)
    function = y.creator
    assert isinstance(function, core.FunctionNode)
    assert isinstance(function.inputs[0], core.VariableNode) and function.inputs[0] is x.node
    assert function.outputs[0]() is y.node and y.node.creator is function
    assert x.node.get_variable() is x


def test_an_array_that_nobody_needs_is_freed():
    import weakref

    x = core.Variable(ones(1000))
    h = x * 2
    gone = weakref.ref(h.array)
    y = F.sum(h + 1)
    del h
    assert gone() is None
    y.backward()
    assert (x.grad == 2).all()


def test_length_and_look():
    x = core.Variable(ones(2, 3))
    assert len(x) == len(x.data) == 2
    assert repr(x) == "variable([[1., 1., 1.],\n          [1., 1., 1.]], dtype=float32)"


def test_split_axis_always_gives_a_tuple():
    assert type(F.split_axis(ones(2, 3), 1, 1)) is tuple
    assert type(F.split_axis(ones(2, 4), 2, 1)) is tuple
    assert type(F.split_axis(ones(2, 3), 1, 1, force_tuple=False)) is core.Variable


# -- functions of one's own ------------------------------------------------------------------------


class AddFunction(core.Function):
    """Needs none of its inputs for its gradient, and says so."""

    def forward(self, inputs):
        self.retain_inputs(())
        return (inputs[0] + inputs[1],)

    def backward(self, inputs, grad_outputs):
        self.seen = inputs
        return grad_outputs[0], grad_outputs[0]


class OwnTanh(core.Function):
    """Keeps its output as an attribute, as in version 1."""

    def forward(self, inputs):
        xp = core.cuda.get_array_module(inputs[0])
        self.y = xp.tanh(inputs[0])
        return (self.y,)

    def backward(self, inputs, grad_outputs):
        one = self.y.dtype.type(1)
        return (grad_outputs[0] * (one - self.y * self.y),)


class RetainingTanh(core.Function):
    def check_type_forward(self, in_types):
        core.utils.type_check.expect(in_types.size() == 1)
        (x_type,) = in_types
        core.utils.type_check.expect(x_type.dtype.kind == "f", x_type.ndim > 0)

    def forward(self, inputs):
        self.retain_inputs(())
        self.retain_outputs((0,))
        xp = core.cuda.get_array_module(inputs[0])
        return (xp.tanh(inputs[0]),)

    def backward(self, inputs, grad_outputs):
        y = self.output_data[0]
        one = y.dtype.type(1)
        return (grad_outputs[0] * (one - y * y),)


class NodeTanh(core.FunctionNode):
    """The new style: gradients on Variables, of any order."""

    def forward(self, inputs):
        self.retain_outputs((0,))
        xp = core.cuda.get_array_module(inputs[0])
        return (xp.tanh(inputs[0]),)

    def backward(self, indexes, grad_outputs):
        (y,) = self.get_retained_outputs()
        return (grad_outputs[0] * (1.0 - y * y),)


def test_a_function_that_retains_nothing():
    import weakref

    x, y = core.Variable(ones(3)), core.Variable(ones(3))
    function = AddFunction()
    h = x * 2
    gone = weakref.ref(h.array)
    z = function(h, y)
    del h
    assert gone() is None
    F.sum(z).backward()
    assert (x.grad == 2).all() and (y.grad == 1).all() and function.seen == (None, None)


@pytest.mark.parametrize("make", [OwnTanh, RetainingTanh])
def test_old_functions_are_differentiated_once(make):
    x = core.Variable(np.array([[0.5, -1]], "f"))
    function = make()
    y = function(x)
    assert y.creator is function
    F.sum(y).backward()
    np.testing.assert_allclose(x.grad, 1 - np.tanh(x.array) ** 2, rtol=1e-6)
    core.gradient_check.check_backward(make(), x.array.astype("d"), np.ones((1, 2)))
    (gx,) = core.grad([F.sum(make()(x))], [x], enable_double_backprop=True)
    with pytest.raises(core.errors.NotDifferentiable, match=make.__name__):
        F.sum(gx).backward()


def test_new_functions_are_differentiated_twice():
    x = np.array([[0.5, -1.0]])
    core.gradient_check.check_double_backward(
        lambda v: NodeTanh().apply((v,))[0], x, np.ones((1, 2)), np.ones((1, 2))
    )


def test_a_type_check_says_what_failed():
    with pytest.raises(core.utils.type_check.InvalidType, match="RetainingTanh") as caught:
        RetainingTanh()(np.arange(3))
    assert "Expect: " in str(caught.value) and "Actual: 'i' != 'f'" in str(caught.value)
    with core.using_config("type_check", False):
        assert RetainingTanh()(np.float32([1]).reshape(())).shape == ()


@pytest.mark.parametrize("what", ["retain_inputs", "retain_outputs"])
def test_retaining_belongs_to_forward(what):
    with pytest.raises(core.errors.GraphError, match=f"{what}.*outside forward"):
        getattr(AddFunction(), what)((0,))


# -- links -----------------------------------------------------------------------------------------


def deviation(link):
    return float(link.W.array.std())


def test_half_the_usual_weights():
    np.random.seed(0)
    usual = deviation(L.Linear(1000, 50))
    assert usual == pytest.approx(1 / math.sqrt(1000), rel=0.02)
    for initial in (
        initializers.Normal(0.5 / math.sqrt(1000)),
        initializers.HeNormal(0.5 / math.sqrt(2)),
    ):
        assert deviation(L.Linear(1000, 50, initialW=initial)) == pytest.approx(usual / 2, rel=0.02)


class Classic(core.Link):
    """Registers by shape, and fills what it got."""

    def __init__(self):
        super().__init__(W=(10, 5), b=(5,))
        initializers.Normal(0.05)(self.W.data)
        self.b.data.fill(0)


class MyLink(core.Link):
    """Registers what is set in the scope."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.W = core.Parameter(initializers.Normal(0.05), (10, 5))
            self.b = core.Parameter(0, (5,))
        self.outside = core.Parameter(0, (5,))


@pytest.mark.parametrize("make", [Classic, MyLink])
def test_links_of_ones_own(make):
    link = make()
    assert sorted(path for path, _ in link.namedparams()) == ["/W", "/b"]
    assert all(isinstance(p, core.Parameter) for p in link.params())
    assert 0.02 < link.W.array.std() < 0.09 and (link.b.array == 0).all()
    assert (link.W.name, link.b.name) == ("W", "b")


def test_registering_by_method():
    link = core.Link()
    link.add_param("W", (3, 2), initializer=initializers.Constant(2))
    link.add_persistent("count", 0)
    assert (link.W.array == 2).all() and link.count == 0
    chain = core.Chain(link=link)
    chain.add_link("other", L.Linear(2, 2))
    assert [path for path, _ in chain.namedlinks()] == ["/", "/link", "/other"]


class ClassicMLP(core.Chain):
    def __init__(self):
        super().__init__(layer1=L.Linear(None, 20), layer2=L.Linear(None, 30))

    def __call__(self, x):
        return self.layer2(F.relu(self.layer1(x)))


class MyMLP(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.layer1 = L.Linear(20)
            self.layer2 = L.Linear(30)
        self.aside = L.Linear(2)

    def __call__(self, x):
        return self.layer2(F.relu(self.layer1(x)))


@pytest.mark.parametrize("make", [ClassicMLP, MyMLP])
def test_chains_of_ones_own(make):
    model = make()
    assert [link.name for link in model.children()] == ["layer1", "layer2"]
    assert not model.layer1.W.is_initialized
    assert model(ones(2, 7)).shape == (2, 30)
    assert model.layer1.W.shape == (20, 7) and model.layer2.W.shape == (30, 20)


class Shaped(core.Link):
    def __call__(self, x):
        return x.shape


def test_raw_arrays_and_variables_have_shapes_alike():
    assert Shaped()(ones(2, 3)) == Shaped()(core.Variable(ones(2, 3))) == (2, 3)


def test_lstms_remember_from_the_start():
    for make in (L.LSTM, L.StatelessLSTM):
        link, old = make(3, 2), make(3, 2, forget_bias_init=0)
        biases = [p.array for name, p in link.namedparams() if name.endswith("b")]
        flat = np.concatenate([b.ravel() for b in biases])
        assert sorted(flat.tolist()) == [0] * 6 + [1] * 2
        olds = [p.array for name, p in old.namedparams() if name.endswith("b")]
        assert not np.concatenate([b.ravel() for b in olds]).any()


# -- optimizers ------------------------------------------------------------------------------------


class PlainRule(core.UpdateRule):
    """Written as rules were in version 2."""

    def __init__(self, parent_hyperparam=None, lr=None):
        super().__init__(parent_hyperparam)
        if lr is not None:
            self.hyperparam.lr = lr

    def init_state(self, param):
        self.state["steps"] = 0

    def update_core_cpu(self, param):
        if param.grad is None:
            return
        self.state["steps"] += 1
        param.data -= self.hyperparam.lr * param.grad

    def update_core_gpu(self, param):
        self.update_core_cpu(param)


class Plain(core.GradientMethod):
    def __init__(self, lr=0.1):
        super().__init__()
        self.hyperparam.lr = lr

    lr = core.optimizer.HyperparameterProxy("lr")

    def create_update_rule(self):
        return PlainRule(self.hyperparam)


def test_an_optimizer_of_ones_own():
    model = L.Linear(3, 2)
    optimizer = Plain(lr=0.5)
    optimizer.setup(model)
    before = model.W.array.copy()
    optimizer.update(lambda x: F.sum(model(x)), ones(1, 3))
    np.testing.assert_allclose(model.W.array, before - 0.5)
    assert optimizer.lr == 0.5 and model.W.update_rule.state["steps"] == 1
    model.W.update_rule.hyperparam.lr = 0
    optimizer.lr = 1
    optimizer.update(lambda x: F.sum(model(x)), ones(1, 3))
    np.testing.assert_allclose(model.W.array, before - 0.5)
    np.testing.assert_allclose(model.b.array, -1.5 * ones(2))


def test_gradients_begin_as_none_unless_asked_otherwise():
    seen = []
    model = core.Chain(used=L.Linear(3, 2), unused=L.Linear(3, 2))
    for use in (True, False):
        optimizer = optimizers.SGD()
        optimizer.setup(model)
        optimizer.use_cleargrads(use)
        optimizer.update(lambda x: F.sum(model.used(x)), ones(1, 3))
        seen.append(model.unused.W.grad)
    assert seen[0] is None and (seen[1] == 0).all()


def test_layers_are_frozen():
    model = core.Chain(base=L.Linear(3, 3), head=L.Linear(3, 2))
    optimizer = optimizers.SGD(1).setup(model)
    kept = {path: p.array.copy() for path, p in model.namedparams()}

    def step():
        optimizer.update(lambda: F.sum(model.head(model.base(ones(1, 3)))))
        return {p for p, v in model.namedparams() if (v.array != kept[p]).any()}

    model.base.disable_update()
    assert not model.base.W.update_rule.enabled
    assert step() == {"/head/W", "/head/b"}
    model.base.enable_update()
    assert {"/base/W", "/base/b"} <= step()
    model.head.W.update_rule.enabled = False
    kept = {path: p.array.copy() for path, p in model.namedparams()}
    assert "/head/W" not in step()


def test_hooks_of_one_rule():
    model = L.Linear(3, 2)
    optimizers.SGD(1).setup(model)
    model.W.update_rule.add_hook(core.optimizer_hooks.WeightDecay(0.5))
    model.W.grad, model.b.grad = 0 * model.W.array, 0 * model.b.array
    before = model.W.array.copy()
    model.W.update()
    np.testing.assert_allclose(model.W.array, before / 2)
    with pytest.raises(core.errors.HookError, match="GradientClipping"):
        model.W.update_rule.add_hook(core.optimizer_hooks.GradientClipping(1))


# -- serializers, reporter, training ---------------------------------------------------------------


class Remembering(core.Link):
    def __init__(self):
        super().__init__()
        self.add_persistent("best", None)


def test_none_is_saved(tmp_path):
    link = Remembering()
    serializers.save_npz(tmp_path / "link", link)
    loaded = Remembering()
    loaded.best = 3
    serializers.load_npz(tmp_path / "link", loaded)
    assert loaded.best is None


class Reporting(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(3, 2)
        self.given = []

    def __call__(self, x, t):
        self.given += [x, t]
        loss = F.softmax_cross_entropy(self.l(x), t)
        core.report({"loss": loss}, self)
        core.report({"norm": F.sum(self.l.W**2)}, self.l)
        return loss


def test_updaters_and_evaluators_pass_plain_arrays(make_trainer):
    model = Reporting()
    trainer = make_trainer(model)
    batches = core.iterators.SerialIterator(examples(), 2, repeat=False)
    trainer.extend(extensions.Evaluator(batches, model))
    trainer.run()
    assert {type(a) for a in model.given} == {np.ndarray}
    assert {"main/loss", "main/l/norm", "validation/main/loss"} <= set(trainer.observation)


@pytest.mark.parametrize("keep", [False, True])
def test_reported_variables_let_their_graph_go(keep):
    model, seen = Reporting(), {}
    reporter = core.Reporter()
    reporter.add_observer("main", model)
    reporter.add_observer("main/l", model.l)
    with core.using_config("keep_graph_on_report", keep), reporter.scope(seen):
        loss = model(ones(2, 3), np.zeros(2, "i"))
    assert (seen["main/loss"].creator is not None) is keep
    assert seen["main/loss"].array is loss.array and (seen["main/loss"] is loss) is keep


def examples():
    return core.datasets.TupleDataset(np.eye(4, 3, dtype="f"), np.zeros(4, "i"))


@pytest.fixture
def make_trainer(tmp_path):
    def make(model, stop=(4, "iteration")):
        updater = training.StandardUpdater(
            core.iterators.SerialIterator(examples(), 2), optimizers.SGD().setup(model)
        )
        return training.Trainer(updater, stop, out=tmp_path)

    return make


def test_the_trigger_of_a_snapshot_is_the_trainers(make_trainer, tmp_path):
    trainer = make_trainer(Reporting())
    trainer.extend(extensions.snapshot(), trigger=(2, "iteration"))
    trainer.run()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["snapshot_iter_2", "snapshot_iter_4"]


class Counting(training.Extension):
    """What had `invoke_before_training` overrides `initialize`."""

    trigger = (2, "iteration")

    def __init__(self):
        self.calls = []

    def initialize(self, trainer):
        self.calls.append(("initialize", trainer.updater.iteration))

    def __call__(self, trainer):
        self.calls.append(("call", trainer.updater.iteration))

    def finalize(self):
        self.calls.append("finalize")


def test_extensions_are_initialized(make_trainer):
    calls = []

    @training.make_extension(
        trigger=(3, "iteration"),
        default_name="decorated",
        priority=training.PRIORITY_WRITER,
        initializer=lambda trainer: calls.append("initialize"),
        finalizer=lambda: calls.append("finalize"),
    )
    def decorated(trainer):
        calls.append(trainer.updater.iteration)

    counting = Counting()
    trainer = make_trainer(Reporting())
    trainer.extend(counting)
    trainer.extend(decorated)
    assert trainer.get_extension("decorated") is decorated
    trainer.run()
    assert counting.calls == [("initialize", 0), ("call", 2), ("call", 4), "finalize"]
    assert calls == ["initialize", 3, "finalize"]


@pytest.mark.parametrize("keep", [False, True])
def test_a_graph_is_dumped_once_and_the_flag_comes_back(make_trainer, tmp_path, keep):
    seen = []
    trainer = make_trainer(Reporting())
    trainer.extend(extensions.dump_graph("main/loss"))
    trainer.extend(
        lambda t: seen.append(t.observation["main/loss"].creator is not None),
        name="look",
        trigger=(1, "iteration"),
        priority=0,
    )
    with core.using_config("keep_graph_on_report", keep):
        trainer.run()
        assert core.config.keep_graph_on_report is keep
    assert "SoftmaxCrossEntropy" in (tmp_path / "cg.dot").read_text()
    assert seen == [True, keep, keep, keep]
