"""What links carry from call to call is resumed to the bit, as in truncated backpropagation."""

import functools
import tempfile
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import small
from hypothesis import given, settings
from hypothesis import strategies as st

import core
import core.functions as F
import core.links as L
from core import datasets, iterators, optimizers, serializers, training
from core.link.recurrent_state import serialize_carried
from core.training import extensions

STEPS = 9
LAYERS = {
    "LSTM": lambda: L.LSTM(4, 5),
    "LSTM of unknown size": lambda: L.LSTM(None, 5),
    "StatefulGRU": lambda: L.StatefulGRU(4, 5),
    "GRU": lambda: L.GRU(4, 5),
    "StatefulMGU": lambda: L.StatefulMGU(4, 5),
    "StatefulPeepholeLSTM": lambda: L.StatefulPeepholeLSTM(4, 5),
    "StatefulZoneoutLSTM": lambda: L.StatefulZoneoutLSTM(4, 5, c_ratio=0.3, h_ratio=0.3),
}
FORMATS = {
    "npz": (serializers.save_npz, serializers.load_npz),
    "hdf5": (serializers.save_hdf5, serializers.load_hdf5),
}


class Language(core.Chain):
    """Guesses the next word; its own Chain carries something as well."""

    carried = ("last",)
    last = None

    def __init__(self, layer):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(7, 4)
            self.layer = layer
            self.out = L.Linear(5, 7)

    def forward(self, x, t):
        h = self.layer(F.dropout(self.embed(x), 0.2))
        if self.last is not None:
            h = h + 0.5 * self.last
        self.last = h
        loss = F.softmax_cross_entropy(self.out(h), t)
        core.report({"loss": loss}, self)
        return loss


class Truncated(training.updaters.StandardUpdater):
    """Goes back over three words, and no further."""

    def update_core(self):
        optimizer = self.get_optimizer("main")
        loss = 0
        for _ in range(3):
            loss += optimizer.target(*self.converter(self.next_batch(), self.input_device))
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()


class Short(Language):
    """Lets go of the past with every update, whoever makes it."""

    def release_graph(self):
        self.layer.set_state(self.layer.c.array, self.layer.h.array)
        self.last = core.Variable(self.last.array)


class Plain(training.updaters.StandardUpdater):
    """Goes back over one word."""


def words():
    ids = np.random.RandomState(0).randint(0, 7, 45).astype("i")
    return datasets.TupleDataset(ids[:-1], ids[1:])


def build(layer, out, *, updater=Truncated, form="npz", steps=STEPS, batch=4):
    core.seed(2)
    model = (Short if updater is Plain else Language)(LAYERS[layer]())
    optimizer = optimizers.Adam(0.05).setup(model)
    batches = iterators.SerialIterator(words(), batch, shuffle=False)
    trainer = training.Trainer(updater(batches, optimizer), (steps, "iteration"), out)
    trainer.extend(extensions.LogReport(trigger=(2, "iteration")))
    save, load = FORMATS[form]
    snapshot = extensions.snapshot(save, n_retains=2, autoload=load)
    trainer.extend(snapshot, trigger=(1, "iteration"))
    return trainer


def state(trainer):
    found = small.state(trainer)
    assert any("carried:main/layer/h" in name for name in found)
    return found


@functools.cache
def never_stopped(layer, updater):
    with tempfile.TemporaryDirectory() as out:
        trainer = build(layer, out, updater=updater)
        trainer.run()
        return state(trainer)


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.seed(None)


def check(stops, layer="LSTM", updater=Truncated, form="npz"):
    expected = never_stopped(layer, updater)
    with tempfile.TemporaryDirectory() as out:
        for steps in [*stops, STEPS]:
            trainer = build(layer, out, updater=updater, form=form, steps=steps)
            trainer.run()
        assert trainer.updater.iteration == STEPS
        found = state(trainer)
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []


@pytest.mark.parametrize("layer", LAYERS)
def test_every_link_that_has_a_state(layer):
    check([2, 5], layer)


def test_an_updater_that_goes_back_over_one_word():
    check([2, 5], "LSTM", Plain)


def test_a_graph_that_goes_on_is_warned_of(tmp_path):
    updater = build("LSTM", tmp_path).updater
    model = updater.get_optimizer("main").target
    model(*updater.converter(updater.next_batch()))
    with pytest.warns(UserWarning, match=r"saved without the graph.*unchain_backward\(\)"):
        serializers.save_npz(tmp_path / "it", updater)


@settings(max_examples=12, deadline=None)
@given(
    stops=st.lists(st.integers(1, STEPS - 1), unique=True, max_size=4).map(sorted),
    layer=st.sampled_from(sorted(LAYERS)),
    form=st.sampled_from(sorted(FORMATS)),
)
def test_stopped_anywhere(stops, layer, form):
    check(stops, layer, form=form)


def test_the_newest_snapshot_was_lost():
    with tempfile.TemporaryDirectory() as out:
        build("LSTM", out, steps=5).run()
        (Path(out) / "snapshot_iter_5").unlink()
        trainer = build("LSTM", out)
        trainer.run()
        assert state(trainer) == never_stopped("LSTM", Truncated)


def test_without_what_is_carried_it_would_differ(monkeypatch):
    """So the tests above cannot pass by chance."""
    expected = never_stopped("LSTM", Truncated)
    with tempfile.TemporaryDirectory() as out:
        build("LSTM", out, steps=4).run()
        trainer = build("LSTM", out)
        trainer.extend(lambda t: None, name="other")
        forget = extensions.snapshot(autoload=False)
        forget.initialize = lambda t: t.updater.get_optimizer("main").target.layer.reset_state()
        trainer.extend(forget, name="forget", trigger=lambda t: False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the further extension
            trainer.run()
        assert (
            small.state(trainer)["updater/model:main/out/W"]
            != (expected["updater/model:main/out/W"])
        )


@pytest.mark.parametrize("form", FORMATS)
def test_a_state_of_another_batch_is_replaced(tmp_path, form):
    save, load = FORMATS[form]
    saved = build("LSTM", tmp_path).updater
    saved.update()
    save(tmp_path / "it", saved)
    other = build("LSTM", tmp_path, batch=3).updater
    other.update()
    load(tmp_path / "it", other)
    mine, theirs = (u.get_optimizer("main").target.layer.h for u in (saved, other))
    np.testing.assert_array_equal(mine.array, theirs.array)
    assert theirs.creator is None


def test_no_state_yet_is_restored_as_none(tmp_path):
    serializers.save_npz(tmp_path / "it", build("LSTM", tmp_path).updater)
    other = build("LSTM", tmp_path).updater
    other.update()
    serializers.load_npz(tmp_path / "it", other)
    model = other.get_optimizer("main").target
    assert model.layer.h is None
    assert model.last is None


def test_a_file_that_does_not_fit_leaves_the_state(tmp_path):
    serializers.save_npz(tmp_path / "it", build("StatefulGRU", tmp_path).updater)
    other = build("LSTM", tmp_path).updater
    other.update()
    before = other.get_optimizer("main").target.layer.h.array.copy()
    with pytest.raises(core.errors.CheckpointError, match="nothing was loaded"):
        serializers.load_npz(tmp_path / "it", other)
    np.testing.assert_array_equal(other.get_optimizer("main").target.layer.h.array, before)


def test_files_of_a_model_have_none_of_it(tmp_path):
    updater = build("LSTM", tmp_path).updater
    updater.update()
    saved = serializers.DictionarySerializer()
    saved.save(updater.get_optimizer("main").target)
    assert all(name.split("/")[-1] in "Wb" for name in saved.target)


def test_files_without_it_load_with_a_warning(tmp_path):
    updater = build("LSTM", tmp_path).updater
    updater.update()
    saved = serializers.DictionarySerializer()
    saved.save(updater)
    older = {name: v for name, v in saved.target.items() if "carried" not in name}
    serializers.save_npz(tmp_path / "it", older)
    other = build("LSTM", tmp_path).updater
    with pytest.warns(UserWarning, match="nothing of these.*carried:main/layer/c"):
        serializers.load_npz(tmp_path / "it", other)
    assert other.iteration == 1
    del saved.target["carried:main/layer/c"]
    serializers.save_npz(tmp_path / "it", saved.target)
    with pytest.raises(core.errors.CheckpointError, match="carried:main/layer/c: missing"):
        serializers.load_npz(tmp_path / "it", other)


def test_safetensors_hold_it(tmp_path):
    layer = L.LSTM(3, 2)
    layer(np.ones((5, 3), "f")).unchain_backward()

    class Whole:
        def __init__(self, layer):
            self.layer = layer

        def serialize(self, serializer):
            serialize_carried(self.layer, serializer)

    serializers.save_safetensors(tmp_path / "it", Whole(layer))
    other = L.LSTM(3, 2)
    serializers.load_safetensors(tmp_path / "it", Whole(other))
    np.testing.assert_array_equal(other.h.array, layer.h.array)
    np.testing.assert_array_equal(other.c.array, layer.c.array)


def parallel(out, steps):
    core.seed(2)
    optimizer = optimizers.Adam(0.05).setup(Short(L.LSTM(4, 5)))
    updater = training.updaters.ParallelUpdater(
        iterators.SerialIterator(words(), 6), optimizer, devices={"main": "numpy", "b": "numpy"}
    )
    return saving(updater, out, steps)


def processes(out, steps):
    core.seed(2)
    optimizer = optimizers.Adam(0.05).setup(Short(L.LSTM(4, 5)))
    both = [iterators.SerialIterator(words(), 3, shuffle=False) for _ in range(2)]
    updater = training.updaters.MultiprocessParallelUpdater(both, optimizer)
    return saving(updater, out, steps)


def saving(updater, out, steps):
    trainer = training.Trainer(updater, (steps, "iteration"), out)
    trainer.extend(extensions.snapshot(autoload=True), trigger=(1, "iteration"))
    return trainer


def test_each_copy_of_a_parallel_updater(tmp_path):
    straight = parallel(tmp_path / "a", 6)
    straight.run()
    for steps in (2, 3, 6):
        resumed = parallel(tmp_path / "b", steps)
        resumed.run()
    found = small.state(resumed)
    assert "updater/carried of b/layer/h" in found
    assert found == small.state(straight)


def evaluated(out, steps):
    trainer = build("LSTM", out, steps=steps)
    model = trainer.updater.get_optimizer("main").target.copy()
    rest = iterators.SerialIterator(words(), 4, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(rest, model), trigger=(2, "iteration"))
    trainer.run()
    return trainer


def test_an_evaluator_whose_model_is_never_reset(tmp_path):
    straight = evaluated(tmp_path / "a", 8)
    for steps in (3, 5, 8):
        resumed = evaluated(tmp_path / "b", steps)
    found = state(resumed)
    assert "extensions/validation/carried:main/layer/h" in found
    assert found == state(straight)


@pytest.mark.parametrize("fails", [False, True])
def test_an_evaluation_leaves_the_state_of_the_training(tmp_path, fails):
    """Of the model that trains, whatever the evaluation or its hook makes of it."""
    trainer = build("LSTM", tmp_path, steps=1)
    trainer.run()
    model = trainer.updater.get_optimizer("main").target
    rest = iterators.SerialIterator(words(), 4, repeat=False, shuffle=False)
    seen = []

    def start(evaluator):
        model.layer.reset_state()
        model.last = None

    def measure(x, t):
        seen.append(model.layer.h)
        model(x, t)
        if fails:
            raise KeyError("mine")

    before = model.layer.h, model.layer.c, model.last
    evaluator = extensions.Evaluator(rest, model, eval_hook=start, eval_func=measure)
    with pytest.raises(KeyError) if fails else nullcontext():
        evaluator(trainer)
    after = model.layer.h, model.layer.c, model.last
    assert all(x is y for x, y in zip(after, before, strict=True))
    assert before[0] is not None and seen[0] is None


def test_each_process_of_a_parallel_updater(tmp_path):
    straight = processes(tmp_path / "a", 6)
    straight.run()
    for steps in (3, 6):
        resumed = processes(tmp_path / "b", steps)
        resumed.run()
    mine, theirs = small.state(resumed), small.state(straight)
    for found in (mine, theirs):
        del found["updater/worker:1"]  # has generators that nothing seeds, and that nothing used
    assert mine == theirs


# -- how it is declared -----------------------------------------------------------------------


def test_names_add_up():
    class More(L.LSTM):
        carried = ("more",)

    assert More.carried == ("c", "h", "more")
    assert core.Link.carried == ()
    with pytest.raises(TypeError, match=r"carried: expected a tuple.*Write \('more',\)"):

        class Slip(core.Link):
            carried = "more"


def test_only_variables_are_carried():
    model = Language(L.LSTM(4, 5))
    model.last = np.zeros(3)
    with pytest.raises(core.errors.CheckpointError, match=r"Language\.last.*Wrap an array"):
        serialize_carried(model, serializers.DictionarySerializer())
