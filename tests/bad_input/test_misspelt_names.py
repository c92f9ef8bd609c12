"""Wherever people type a name, a misspelt one gets the nearest right one."""

import importlib
import pickle

import numpy as np
import pytest

import core
import core.links as L
from core import optimizers, training
from core.errors import UnknownName
from core.training import extensions

MODULES = [
    ("core.functions", "rleu", "relu"),
    ("core.functions", "softmax_crossentropy", "softmax_cross_entropy"),
    ("core.links", "Linaer", "Linear"),
    ("core.links", "BatchNormalisation", "BatchNormalization"),
    ("core.optimizers", "Adma", "Adam"),
    ("core.optimizers", "MomentunSGD", "MomentumSGD"),
    ("core.optimizer_hooks", "WeigthDecay", "WeightDecay"),
    ("core.optimizer", "GradientCliping", "GradientClipping"),
    ("core.function_hooks", "TimeHook", "TimerHook"),
    ("core.initializers", "HeNorml", "HeNormal"),
    ("core.initializers", "Orthogonl", "Orthogonal"),
    ("core.datasets", "TupelDataset", "TupleDataset"),
    ("core.iterators", "SerialIteratr", "SerialIterator"),
    ("core.serializers", "sav_npz", "save_npz"),
    ("core.training.updaters", "StandartUpdater", "StandardUpdater"),
    ("core.training.triggers", "IntervalTriger", "IntervalTrigger"),
    ("core.training.extensions", "LogReprot", "LogReport"),
    ("core.training.extensions", "snapsot", "snapshot"),
    ("core.training", "Trainr", "Trainer"),
    ("core.testing", "chek_op", "check_op"),
    ("core.registry", "catalog", "catalogue"),
    ("core", "Varaible", "Variable"),
    ("core", "using_confg", "using_config"),
    ("core", "optimisers", "optimizers"),
]


@pytest.mark.parametrize(("module", "wrong", "right"), MODULES)
def test_names_of_modules(module, wrong, right):
    room = importlib.import_module(module)
    with pytest.raises(AttributeError, match=f"no .*{wrong!r}.*Did you mean {right!r}"):
        getattr(room, wrong)
    assert hasattr(room, right)


def test_a_misspelt_import():
    with pytest.raises(ImportError, match="'rleu'. Did you mean 'relu'"):
        exec("from core.functions import rleu")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: core.config.trian, "'trian'. Did you mean 'train'"),
        (lambda: setattr(core.config, "enable_bakprop", 1), "Did you mean 'enable_backprop'"),
        (lambda: setattr(core.global_config, "debg", True), "Did you mean 'debug'"),
        (lambda: core.using_config("typecheck", 0).__enter__(), "Did you mean 'type_check'"),
        (
            lambda: core.using_config("keep_graph_on_repot", 1)(len)([]),
            "Did you mean 'keep_graph_on_report'",
        ),
    ],
)
def test_config_entries(call, message):
    with pytest.raises(UnknownName, match=message):
        call()


def test_a_choice_of_config():
    with pytest.raises(ValueError, match="use_cudnn: expected 'always', 'auto' or 'never', got"):
        core.config.use_cudnn = True


@pytest.mark.parametrize(
    "call",
    [
        lambda: core.use("nunpy"),
        lambda: core.using("nunpy").__enter__(),
        lambda: core.get_device("nunpy:0"),
        lambda: core.backend.get("nunpy"),
        lambda: core.Variable(np.ones(2)).to_device("nunpy"),
        lambda: L.Linear(2, 2).to_device("nunpy"),
        lambda: core.backend.to_backend(np.ones(2), "nunpy"),
    ],
)
def test_backends_and_devices(call):
    with pytest.raises(core.backend.BackendError, match="'nunpy'.*Did you mean 'numpy'"):
        call()


def test_dtypes():
    for call in (
        lambda: core.functions.cast(np.ones(2), "flaot32"),
        lambda: core.Parameter(core.initializers.Normal(dtype="flaot32"), (2,)),
    ):
        with pytest.raises(core.backend.BackendError, match="'flaot32'. Did you mean 'float32'"):
            call()


def test_names_in_links():
    chain = core.Chain(encoder=L.Linear(2, 2))
    with pytest.raises(AttributeError, match="no child.*there are encoder. Did you mean 'encoder'"):
        chain["encodr"]
    with pytest.raises(ValueError, match="mode of init, copy, share.*'coppy'. Did you mean 'copy'"):
        chain.copy("coppy")
    chain.bias = 1
    with pytest.raises(AttributeError, match="no attribute 'biass'.*Did you mean 'bias'"):
        chain.register_persistent("biass")


class Watch(core.FunctionHook):
    name = "Watch"


class Look(core.LinkHook):
    name = "Look"


def test_names_of_hooks():
    y = core.Variable(np.ones(2)) * 2
    y.creator.add_hook(Watch())
    with pytest.raises(core.errors.HookError, match="'Wacth'. Did you mean 'Watch'"):
        y.creator.delete_hook("Wacth")
    link = L.Linear(2, 2).add_hook(Look())
    with pytest.raises(core.errors.HookError, match="'Lok'. Did you mean 'Look'"):
        link.delete_hook("Lok")
    optimizer = optimizers.SGD().setup(link)
    optimizer.add_hook(core.optimizer_hooks.WeightDecay(0.1))
    with pytest.raises(core.errors.HookError, match="'WeightDeca'.*Did you mean 'WeightDecay'"):
        optimizer.remove_hook("WeightDeca")


@pytest.mark.parametrize("base", [core.FunctionHook, core.LinkHook])
def test_a_misspelt_method_of_a_hook(base):
    with pytest.raises(core.errors.DeclarationError, match="Did you mean 'forward_preprocess'"):
        type("Slip", (base,), {"forward_preproces": lambda self, *args: None})


def test_hyperparameters():
    adam = optimizers.Adam()
    with pytest.raises(AttributeError, match="Did you mean 'alpha'"):
        adam.alhpa = 1
    with pytest.raises(AttributeError, match="Did you mean 'alpha'"):
        adam.alhpa  # noqa: B018


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: training.get_trigger((1, "epohc")), "'epohc'. Did you mean 'epoch'"),
        (
            lambda: training.triggers.IntervalTrigger(1, "iteratoin"),
            "'iteratoin'. Did you mean 'iteration'",
        ),
        (
            lambda: extensions.PlotReport(["main/loss"], "epohc"),
            "expected x_key .*'epohc'. Did you mean 'epoch'",
        ),
    ],
)
def test_units(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_names_in_a_trainer(make_trainer):
    trainer = make_trainer(extensions.LogReport())
    with pytest.raises(ValueError, match="'LogReport'; got 'LogReprot'. Did you mean 'LogReport'"):
        trainer.get_extension("LogReprot")
    with pytest.raises(KeyError, match="'mian'. Did you mean 'main'"):
        trainer.updater.get_iterator("mian")
    with pytest.raises(KeyError, match="'mian'. Did you mean 'main'"):
        trainer.updater.get_optimizer("mian")


@pytest.mark.parametrize(
    ("make", "who"),
    [
        (lambda: extensions.LogReport(keys=["main/los"]), "LogReport"),
        (lambda: extensions.PlotReport(["main/los"], "epoch"), "PlotReport"),
        (
            lambda: extensions.PrintReport(["main/los"], extensions.LogReport(filename=None)),
            "PrintReport",
        ),
    ],
)
def test_values_that_nothing_reports(make_trainer, make, who):
    trainer = make_trainer(make())
    message = f"{who}: nothing has reported 'main/los' so far. Did you mean 'main/loss'"
    with pytest.warns(UserWarning, match=message):
        trainer.run()


@pytest.mark.parametrize(
    "make",
    [
        lambda keys: extensions.LogReport(keys=keys),
        lambda keys: extensions.PlotReport(keys, "epoch"),
        lambda keys: extensions.PrintReport(keys, extensions.LogReport(filename=None)),
    ],
)
def test_values_that_come_later_are_no_slips(make_trainer, make):
    make_trainer(make(["main/loss", "validation/main/loss", "norm"])).run()


@pytest.mark.parametrize("reports", [False, True])
def test_a_model_that_reports_nothing(tmp_path, reports, recwarn):
    class Line(core.Chain):
        def forward(self, x):
            loss = core.functions.mean(self.l(x) ** 2)
            if reports:
                core.report({"loss": loss}, self)
            return loss

    model = Line(l=L.Linear(1, 1))
    batches = core.iterators.SerialIterator(np.ones((4, 1), "f"), 2)
    updater = training.updaters.StandardUpdater(batches, core.optimizers.SGD().setup(model))
    trainer = training.Trainer(updater, (2, "epoch"), tmp_path)
    trainer.extend(extensions.LogReport())
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.PrintReport(["epoch", "lr", "main/loss"]))
    trainer.run()
    told = [str(found.message) for found in recwarn]
    assert len(told) == (not reports)
    assert all("nothing has reported 'main/loss' so far, nor anything" in text for text in told)


def test_the_root_of_a_graph(make_trainer):
    trainer = make_trainer(extensions.dump_graph("main/los"))
    with pytest.raises(KeyError, match="'main/los'.*Did you mean 'main/loss'"):
        trainer.run(show_loop_exception_msg=False)


def test_a_trigger_by_a_value_that_nothing_reports(make_trainer):
    trigger = training.triggers.MaxValueTrigger("main/los", trigger=(1, "iteration"))
    trainer = make_trainer()
    trainer.extend(lambda trainer: None, name="best", trigger=trigger)
    with pytest.raises((KeyError, ValueError), match="'main/los'.*Did you mean 'main/loss'"):
        trainer.run(show_loop_exception_msg=False)


def test_a_report_without_its_log_says_what_to_add(make_trainer):
    trainer = make_trainer(extensions.PrintReport(["epoch"]))
    with pytest.raises(ValueError, match=r"PrintReport.*trainer.extend\(extensions.LogReport\(\)"):
        trainer.run(show_loop_exception_msg=False)


def test_entries_of_a_file(tmp_path):
    core.serializers.save_npz(tmp_path / "model", core.Chain(encodr=L.Linear(2, 2)))
    model = core.Chain(encoder=L.Linear(2, 2))
    with pytest.raises(core.errors.CheckpointError) as caught:
        core.serializers.load_npz(tmp_path / "model", model)
    assert "encoder/W: missing from the file" in str(caught.value)
    assert "encodr/W: in the file" in str(caught.value)


def test_who_asks_whether_a_name_is_there_waits_for_no_suggestions(monkeypatch):
    import core.errors
    import core.registry.catalogues

    made = []
    for home in (core.errors, core.registry.catalogues):
        monkeypatch.setattr(home, "nearest", lambda *args: made.append(args) or " So be it.")
    assert not hasattr(core.functions, "lstn") and not hasattr(core, "Variabl")
    assert not made
    for home, name in ((core.functions, "lstn"), (core, "Variabl")):
        with pytest.raises(AttributeError, match=rf"{name}'. So be it.") as caught:
            getattr(home, name)
        assert "So be it" in repr(caught.value) == repr(pickle.loads(pickle.dumps(caught.value)))
    assert len(made) == 2
