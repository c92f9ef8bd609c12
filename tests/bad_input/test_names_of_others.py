"""Names of other libraries are answered with ours, from one table whose every answer holds."""

import copy
import importlib
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core import optimizers, registry
from core.errors import UnknownName, nearest
from core.errors.synonyms import GONE, TABLE, folded
from core.registry.kinds import FACADES

OF_OBJECTS = {
    "Variable": core.Variable(np.full((2, 3), 0.5, "f")),
    "Link": core.Chain(l1=L.Linear(3, 2), norm=L.LayerNormalization(2)),
    "Optimizer": optimizers.Adam().setup(L.Linear(3, 2)),
    "config": core.config,
}
PLACES = {
    **{kind: importlib.import_module(facade) for kind, facade in FACADES.items()},
    "core": core,
    "training": core.training,
    **OF_OBJECTS,
}
ENTRIES = [(kind, name) for kind, names in TABLE.items() for name in names]


def arguments_of(kind):
    makers = vars(registry)["catalogue"]
    found = [makers(k).get(n) for k in kind for n in makers(k).names()]
    calls = [each.forward for each in found if hasattr(each, "forward")]
    return {name for each in [*found, *calls] if callable(each) for name in _names(each)}


def _names(taker):
    import inspect

    try:
        return inspect.signature(taker).parameters
    except ValueError:
        return ()


@pytest.fixture(scope="module")
def takes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "arguments": {*arguments_of(["functions", "links"]), *_names(core.grad)},
            "hyperparameters": arguments_of(["optimizers"]),
            "backends": core.backend.names(),
        }


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_answer_holds(kind, name, takes, tmp_path, monkeypatch):
    answer = TABLE[kind][name]
    for target in (answer,) if isinstance(answer, str) else answer:
        if kind in takes and "." not in target:
            assert target.partition("=")[0] in takes[kind]
        elif target.isidentifier():
            parts = PLACES[kind].links() if kind == "Link" else [PLACES[kind]]
            assert any(hasattr(part, target) for part in parts)
        elif target.startswith("sklearn."):
            room, _, measure = target.rpartition(".")
            assert hasattr(pytest.importorskip(room), measure)
        else:
            monkeypatch.chdir(tmp_path)
            model, optimizer = copy.deepcopy(OF_OBJECTS["Link"]), OF_OBJECTS["Optimizer"]
            core.serializers.save_npz("model.npz", model)
            core.serializers.save_npz("optimizer.npz", optimizer)
            names = {"core": core, "numpy": np, "x": OF_OBJECTS["Variable"], "model": model}
            room = vars(core.training) if kind == "training" else {}
            eval(target, {**room, **names, "optimizer": optimizer})


@pytest.mark.parametrize(("kind", "name"), [e for e in ENTRIES if e[0] in PLACES])
def test_what_is_answered_is_no_name_of_ours(kind, name):
    with pytest.raises(AttributeError, match="Did you mean") as caught:
        getattr(PLACES[kind], name)
    answer = TABLE[kind][name]
    assert any(
        target in str(caught.value) for target in ([answer] if isinstance(answer, str) else answer)
    )


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: F.RELU, "'relu'"),
        (lambda: F.LogSoftMax, "'LogSoftmax'|'log_softmax'"),
        (lambda: L.linear, "'Linear'"),
        (lambda: optimizers.ADAM, "'Adam'"),
        (lambda: L.matmul, "core.functions.matmul"),
        (lambda: core.cat, "core.functions.concat"),
        (lambda: core.einsum, "core.functions.einsum"),
        (lambda: core.lr_scheduler, "core.training.extensions.StepShift"),
        (lambda: core.training.sgd, "core.optimizers.SGD"),
        (lambda: core.utils.clip_grad_norm_, "core.optimizer_hooks.GradientClipping"),
        (lambda: core.cuda.is_available(), "'available'"),
        (lambda: F.Dense, "core.links.Linear"),
        (lambda: F.dataloader, "core.iterators.SerialIterator"),
        (lambda: L.Conv2D, "'Convolution2D'"),
        (lambda: core.Parameter(1, ()).requires_grad_, "'frozen'"),
        (lambda: F.sort, "numpy.sort"),
        (lambda: F.round, "numpy.round"),
        (lambda: F.mean_squared, "'mean_squared_error'"),
        (lambda: L.ResNet, "'ResNetLayers'"),
        (lambda: L.attention, "'MultiHeadAttention'"),
        (lambda: core.training.triggers.EarlyStop, "'EarlyStoppingTrigger'"),
        (lambda: F.multiply, "numpy.multiply"),
        (lambda: L.Linear(3, 2).weight, "'W'"),
        (lambda: L.LayerNormalization(2).bias, "'beta'"),
        (lambda: core.grad([], [], create_graph=True), "'enable_double_backprop'"),
        (lambda: core.Variable(np.ones(1)).backward(create_graph=True), "'enable_double_backprop'"),
        (lambda: F.checkpoint, "'forget'"),
        (lambda: core.hypot, "numpy.hypot"),
        (lambda: L.LazyLinear, "'Linear'"),
        (lambda: L.LazyConv2d, "'Convolution2D'"),
        (lambda: L.InstanceNorm3d, "'GroupNormalization'"),
        (lambda: F.dropout3d, "core.links.Dropout"),
        (lambda: L.ReplicationPad2d, "core.functions.pad"),
        (lambda: L.Softsign, "x / "),
        (lambda: F.binary_cross_entropy, r".*\.log\(x / \(1 - x"),  # which takes probabilities
        (lambda: L.BCELoss, r".*\.log\(x / \(1 - x"),
        (lambda: F.slogdet, "numpy.linalg.slogdet"),
        (lambda: L.EmbedID(3, 2, padding_idx=0), "'ignore_label'"),
        (lambda: core.training.extensions.sgd, "core.optimizers.SGD"),
        (lambda: optimizers.Adam(lr=0.1), "'alpha'"),
        (lambda: optimizers.SGD(learning_rate=0.1), "'lr'"),
        (lambda: optimizers.SGD(0.1, momentum=0.9), "core.optimizers.CorrectedMomentumSGD"),
        (lambda: optimizers.SGD(weight_decay=0.1), "core.optimizer_hooks.WeightDecay"),
        (lambda: optimizers.AdamW(weight_decay=0.1), "weight_decay_rate=alpha"),
        (lambda: optimizers.Lion(weight_decay=0.1), "'weight_decay_rate'"),
        (lambda: optimizers.LAMB(weight_decay=0.1), "'weight_decay_rate'"),
        (lambda: F.convolution_2d(0, 0, padding=1), "'pad'"),
        (lambda: L.Convolution2D(3, 4, kernel_size=3), "'ksize'"),
        (lambda: L.MultiHeadAttention(2, 1)(0, attn_mask=0), r"mask=~attn_mask\?"),
        (lambda: L.TransformerBlock(2, 1)(0, src_key_padding_mask=0), "mask=~src_key_padding_mask"),
        (lambda: core.using_config("Train", False).__enter__(), "'train'"),
        (lambda: core.use("gpu"), "'cuda'"),
    ],
)
def test_other_spellings_and_other_places(call, answer):
    with pytest.raises(
        (AttributeError, TypeError, core.errors.BackendError), match=f"Did you mean ({answer})"
    ):
        call()


def test_links_may_have_the_names_of_others_themselves():
    class Own(core.Link):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.weight = core.Parameter(np.ones(3, "f"))
            self.add_persistent("bias", 0)

    own = copy.deepcopy(Own())
    assert (own.weight.shape, own.bias) == ((3,), 0)
    assert {"weight", "bias"} <= {*dir(own)} and not {"weight", "bias"} & {*dir(core.Link())}
    assert not hasattr(core.Link(), "weight")


@pytest.mark.parametrize("name", ["take", "real", "all", "any", "stack_of_blocks", "image"])
def test_what_is_far_is_not_offered(name):
    """A wrong answer is worse than none: `take` was answered with `stack`, `real` with `recall`."""
    with pytest.raises(AttributeError) as caught:
        getattr(F, name)
    told = str(caught.value).partition("Did you mean ")[2]
    assert told in ("", f"numpy.{name}?")


def test_what_is_answered_with_numpy_is_there():
    names = registry.catalogue("namespace").names()
    assert [name for name in names if not hasattr(np, name)] == ["namespace_info"]


@given(st.sampled_from(registry.catalogue("functions").names()), st.randoms())
def test_case_does_not_count(name, random):
    typed = "".join(random.choice([c.upper(), c.lower()]) for c in name)
    answer = nearest(typed, registry.catalogue("functions").names()).split("'")[1]
    assert folded(answer) == folded(name)


class Fitting:
    def fit(self):
        return "fitted"

    def train(self):
        return "trained"


def test_methods_of_others_stand_in_nobodys_way():
    class Own(core.Link):
        def eval(self):
            return "own"

    class Beside(core.Chain, Fitting):
        pass

    link = Own()
    assert link.eval() == "own" and Beside().train() == "trained" and Beside().fit() == "fitted"
    link.state_dict = 3
    assert link.state_dict == 3
    with link.init_scope():
        link.to = core.Parameter(1, (2,))
    assert dict(link.namedparams()) == {"/to": link.to}
    assert "eval" in dir(link) and "train" not in dir(link) and "forward" in dir(link)
    assert not hasattr(core.Variable(), "numpy") and "numpy" not in dir(core.Variable())
    with pytest.raises(UnknownName, match="Own has no 'train'"):
        link.train()


@pytest.mark.parametrize("kind, name", [(kind, name) for kind in GONE for name in GONE[kind]])
def test_what_is_gone_tells_why(kind, name):
    with pytest.raises(UnknownName, match=f"{name} no longer exists. Theano ended in 2017") as told:
        getattr(importlib.import_module(FACADES[kind]), name)
    assert "Did you mean" not in str(told.value) and core.links.ONNXModel
