"""Captured training that goes on: steps whose optimizers have made others before are not eager."""

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from backends.numpy_backend.kernels import compiler
from core import iterators, optimizers
from core.training import Trainer, extensions, updaters

WIDTH, COUNT = 48, 60
R = np.random.default_rng(1)
DATA = [
    (x, np.int32(t))
    for x, t in zip(R.normal(size=(COUNT, WIDTH)).astype("f"), R.integers(0, 5, COUNT), strict=True)
]


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.seed(None)


def training(out, end):
    """Of a network whose loops round otherwise than its kernels."""
    core.seed(0)
    layers = (L.Linear(WIDTH, 64), L.LayerNormalization(64), F.gelu, L.Dropout(0.2))
    model = L.Classifier(core.Sequential(*layers, L.Linear(64, 5)))
    optimizer = optimizers.Adam().setup(model)
    capture = core.capture(fuse=True)
    batches = iterators.SerialIterator(DATA, 16)
    trainer = Trainer(updaters.StandardUpdater(batches, optimizer, capture=capture), end, out=out)
    held_out = iterators.SerialIterator(DATA, 20, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(held_out, model, capture=capture)
    trainer.extend(evaluator, trigger=(1, "iteration"))
    trainer.extend(extensions.LogReport(trigger=(1, "iteration")))
    trainer.extend(extensions.snapshot(), trigger=end)
    return trainer, model


def outcome(trainer, model):
    log = trainer.get_extension("LogReport").log
    told = [{k: v for k, v in entry.items() if k != "elapsed_time"} for entry in log]
    return told, [p.array.tobytes() for _, p in sorted(model.namedparams())]


@pytest.mark.skipif(not compiler.available(), reason="loops are numba's")
@pytest.mark.parametrize("stop", [1, 2, 5, 8])
def test_loops_are_those_of_an_uninterrupted_run(tmp_path, stop):
    whole, model = training(tmp_path / "whole", (12, "iteration"))
    whole.run()
    expected = outcome(whole, model)
    first, _ = training(tmp_path / "first", (stop, "iteration"))
    first.run()
    rest, model = training(tmp_path / "rest", (12, "iteration"))
    core.serializers.load_npz(tmp_path / "first" / f"snapshot_iter_{stop}", rest)
    rest.run()
    assert outcome(rest, model) == expected
    assert rest.updater.captured.replayed == rest.updater.captured.calls == 12 - stop


class Made(core.Chain):
    """Makes an array at first use, which it reads from then on."""

    def __init__(self, keeps):
        super().__init__(a=L.Linear(3, 2))
        self.keeps = keeps

    def forward(self, x):
        scale = self.__dict__.get("scale")
        if scale is None:
            scale = np.float32(2) * np.ones(3, "f")
            if self.keeps:
                self.scale = scale
        return self.a(x * scale)


@pytest.mark.parametrize("keeps", [False, True])
def test_what_is_made_at_first_use_is_made(keeps):
    found = []
    for capture in (lambda step: step, core.capture):
        core.seed(3)
        model = Made(keeps)
        optimizer = optimizers.MomentumSGD().setup(model)
        optimizer.update(lambda m=model: F.sum(m.a(np.ones((1, 3), "f"))))

        def step(x, optimizer=optimizer, model=model):
            optimizer.update(lambda: F.sum(model(x) ** 2))

        captured = capture(step)
        for i in range(5):
            captured(np.full((2, 3), i, "f"))
        found.append([p.array.tobytes() for p in model.params()])
    assert found[0] == found[1]
    assert captured.replayed >= 3 and not captured.reasons


HELD = {
    "by an object": lambda held: lambda x, t: held.optimizer.update(held.model, x, t),
    "in a dict": lambda held: (
        lambda parts: lambda x, t: parts["optimizer"].update(parts["model"], x, t)
    )(vars(held)),
    "by a method's object": lambda held: held.step,
    "itself": lambda held: (lambda o, m: lambda x, t: o.update(m, x, t))(
        held.optimizer, held.model
    ),
}


class Held:
    def __init__(self):
        core.seed(0)
        layers = (L.Linear(WIDTH, 64), L.LayerNormalization(64), F.gelu)
        self.model = L.Classifier(core.Sequential(*layers, L.Linear(64, 5)))
        self.optimizer = optimizers.SGD(0.1).setup(self.model)

    def step(self, x, t):
        self.optimizer.update(self.model, x, t)

    def part(self, share, x, t):
        self.optimizer.accumulate(share, self.model, x, t)


@pytest.mark.skipif(not compiler.available(), reason="loops are numba's")
@pytest.mark.parametrize("how", HELD)
def test_optimizers_that_go_on_are_found_wherever_they_are_held(how):
    x, t = (np.stack(each[:16]) for each in zip(*DATA, strict=True))
    held, found = Held(), []
    for steps in (2, 2):  # as of a run, and of one that goes on
        step = core.capture(HELD[how](held), fuse=True)
        for _ in range(steps):
            step(x, t)
        found.append(step.replayed)
    assert found == [1, 2]


@pytest.mark.skipif(not compiler.available(), reason="loops are numba's")
def test_a_run_that_goes_on_within_its_first_step_has_its_loops():
    x, t = (np.stack(each[:16]) for each in zip(*DATA, strict=True))
    held, found = Held(), []
    for parts in (1, 2):  # as of a run, and of one that goes on with the gradients so far
        part = core.capture(held.part, fuse=True)
        for _ in range(parts):
            part(0.25, x, t)
        found.append(part.replayed)
    assert found == [0, 2] and held.optimizer.t == 0


@pytest.mark.parametrize("clears", [1, 2, 9])
def test_parts_are_those_of_optimizers_wherever_they_are_held(clears):
    x, t = (np.stack(each[:8]) for each in zip(*DATA, strict=True))

    def run(capture):
        held, found = Held(), []
        part = capture(lambda share, x, t: held.part(np.float32(share), x, t))
        for i in range(5):
            if i == clears:
                held.model.cleargrads()
            for some in (slice(4), slice(4, None), slice(2, 6)):
                part(0.5, x[some], t[some])
                found.append(held.optimizer._parts)
            held.optimizer.update()
            found.append([p.grad.tobytes() for _, p in sorted(held.model.namedparams())])
        return found, part

    (eager, _), (captured, part) = run(lambda step: step), run(core.capture)
    assert captured == eager
    assert part.replayed == 14 and not part.reasons
