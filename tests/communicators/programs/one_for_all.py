"""Trainings of several ranks whose scripts say nothing of them: OUT STEPS MODE..."""

import json
import sys
from pathlib import Path

import numpy as np

import core
import core.functions as F
import core.links as L
from core import communicators, iterators, optimizers, training
from core.training import extensions, triggers, updaters

results, steps, modes = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
comm = communicators.create_communicator("mpi", time_limit=60)
generator = np.random.default_rng(0)
X = generator.standard_normal((50, 6)).astype("f")
DATA = list(zip(X, (X[:, 0] > 0).astype("i"), strict=True))
called = {"each": 0, "first": 0, "together": 0}


class Total(training.Extension):
    """A stranger's, which adds up a number of each rank."""

    ranks = "together"
    seen = ()

    def __call__(self, trainer):
        called["together"] += 1
        self.seen = (1,) if self.communicator is None else self.communicator.allgather_obj(1)


@training.make_extension(trigger=lambda trainer: True, ranks="first")
def noted(trainer):
    called["first"] += 1


def counted(trainer):
    called["each"] += 1


def sums(trainer):
    size = float(round(13 * trainer.share))
    trainer.observation.update(size=size, sum=size * float(trainer.observation["main/loss"].array))


def trainer_of(folder):
    core.seed(0)
    model = L.Classifier(core.Sequential(L.Linear(6, 8), F.tanh, L.Linear(8, 2)))
    actual = optimizers.MomentumSGD(0.1)
    optimizer = communicators.create_multi_node_optimizer(
        actual, comm, shard_state="shards" in modes
    ).setup(model)
    batches = communicators.PartitionedIterator(DATA, 13, comm, seed=3)
    updater = updaters.StandardUpdater(batches, optimizer)
    part = communicators.scatter_dataset(DATA, comm, force_equal_length=False)
    evaluation = iterators.SerialIterator(part, 50, repeat=False, shuffle=False)
    evaluator = extensions.Evaluator(evaluation, model, progress_bar=True)
    trainer = training.Trainer(updater, (steps, "iteration"), out=folder)
    trainer.extend(
        communicators.create_multi_node_evaluator(evaluator, comm), trigger=(5, "iteration")
    )
    return trainer, model


def everything(trainer, model, log):
    """What is to stand in a folder once."""
    losses = ["main/loss", "validation/main/loss"]
    trainer.extend(log)
    trainer.extend(extensions.PrintReport(["iteration", *losses]))
    trainer.extend(extensions.ProgressBar())
    trainer.extend(extensions.PlotReport(losses, trigger=(5, "iteration"), filename="loss.png"))
    trainer.extend(extensions.HistogramReport(model), trigger=(5, "iteration"))
    trainer.extend(
        extensions.ImageReport({"W": lambda trainer: model.predictor[0].W.array}),
        trigger=(5, "iteration"),
    )
    trainer.extend(extensions.VariableStatisticsPlot(model, trigger=(5, "iteration")))
    trainer.extend(
        extensions.ParameterStatistics(model, {"mean": np.mean}, trigger=(5, "iteration"))
    )
    trainer.extend(sums, priority=training.PRIORITY_WRITER)
    trainer.extend(extensions.MicroAverage("sum", "size", "loss of all", (5, "iteration")))
    trainer.extend(extensions.dump_graph("main/loss"))
    trainer.extend(extensions.RunRecord())
    trainer.extend(extensions.snapshot(autoload=True), trigger=(7, "iteration"))
    best = triggers.MaxValueTrigger("validation/main/accuracy", (5, "iteration"))
    trainer.extend(extensions.snapshot_object(model, "best"), trigger=best)
    trainer.extend(noted)
    trainer.extend(counted)
    trainer.extend(Total(), trigger=triggers.TimeTrigger(0.001))


def job():
    """All ranks add the same, but one function."""
    log = extensions.LogReport(trigger=(5, "iteration"))
    trainer, model = trainer_of(out)
    everything(trainer, model, log)
    if comm.rank == comm.size - 1:
        trainer.extend(lambda trainer: counted(trainer), name="own")
    trainer.run()
    logs = [json.dumps(each) for each in comm.allgather_obj(without_time(log.log))]
    assert len({*logs}) == 1, logs
    told = comm.allgather_obj(called)
    assert [each["first"] for each in told[1:]] == [0] * (comm.size - 1), told
    assert told[-1]["each"] == 2 * told[0]["first"] > 0, told
    assert len({each["together"] for each in told}) == 1 <= told[0]["together"], told
    assert len(trainer.get_extension("Total").seen) == comm.size


def on_one_rank():
    """As in ChainerMN's scripts one rank alone has what writes; and another log is everybody's."""
    trainer, model = trainer_of(out)
    if comm.rank == 0:
        trainer.extend(extensions.LogReport(trigger=(3, "iteration"), filename="own"))
        trainer.extend(extensions.snapshot_object(model, "model"), trigger=(4, "iteration"))
    trainer.extend(extensions.LogReport(trigger=(5, "iteration")))
    if comm.rank == 0:
        trainer.extend(extensions.PrintReport(["iteration", "main/loss"], "LogReport_1"))
    trainer.run()


def more_on_one_rank():
    """One rank alone has one more log like the other, and then alone loads a snapshot."""
    trainer, _ = trainer_of(out)
    if comm.rank == 0:
        trainer.extend(extensions.LogReport(trigger=(4, "iteration")))
        trainer.extend(extensions.LogReport(["main/loss"], (5, "iteration")))
    log = extensions.LogReport(trigger=(5, "iteration"))
    trainer.extend(log)
    trainer.extend(extensions.snapshot(filename="saved"), trigger=(5, "iteration"))
    trainer.run()
    assert [each["iteration"] for each in log.log] == [5, 10, 15]
    assert {*comm.allgather_obj(log.log[0]["main/loss"])} == {log.log[0]["main/loss"]}
    trainer, _ = trainer_of(f"{out}/again")
    if comm.rank == 0:
        core.serializers.load_npz(f"{out}/saved", trainer)
    try:
        trainer.run()
    except core.errors.CommunicatorError as error:
        assert "iteration to begin at" in str(error), error
    else:
        raise AssertionError("ranks begin at different iterations")


def own_folders():
    """Each rank has results of its own."""
    trainer, _ = trainer_of(f"{out}/{comm.rank}")
    trainer.extend(extensions.LogReport(trigger=(5, "iteration")))
    trainer.extend(lambda trainer: core.report({"rank": comm.rank}), priority=300)
    trainer.run()


def stops():
    """Triggers that would fire on each rank at another time: the first rank's decides."""
    trainer, _ = trainer_of(out)
    trainer.stop_trigger = lambda trainer: trainer.updater.iteration >= 5 + 3 * comm.rank
    log = extensions.LogReport(trigger=lambda t: t.updater.iteration % (2 + comm.rank) == 0)
    trainer.extend(log)
    trainer.run()
    assert trainer.updater.iteration == 5
    assert [each["iteration"] for each in log.log] == [2, 4]


def ragged():
    """Epochs of the ranks end at different iterations: those of the first are logged."""
    core.seed(0)
    model = L.Classifier(L.Linear(6, 2))
    optimizer = communicators.create_multi_node_optimizer(optimizers.SGD(), comm).setup(model)
    batches = iterators.SerialIterator(DATA[: 20 + 7 * comm.rank], 5)
    trainer = training.Trainer(updaters.StandardUpdater(batches, optimizer), (3, "epoch"), out=out)
    log = extensions.LogReport()
    trainer.extend(log)
    trainer.extend(extensions.snapshot())
    trainer.run()
    assert [each["iteration"] for each in log.log] == [4, 8, 12]


def fails():
    """One rank meets an error."""
    trainer, _ = trainer_of(out)

    def slip(trainer):
        if comm.rank == comm.size - 1:
            raise ValueError("a slip")

    trainer.extend(slip)
    trainer.run()


def without_time(log):
    return [{key: value for key, value in each.items() if key != "elapsed_time"} for each in log]


all_modes = (job, on_one_rank, more_on_one_rank, own_folders, stops, ragged, fails)
known = {each.__name__: each for each in all_modes}
for mode in modes:
    if mode in known:
        out = str(results / mode)
        known[mode]()
comm.barrier()
if comm.rank == 0:
    files = [str(path.relative_to(results)) for path in results.rglob("*") if path.is_file()]
    print(json.dumps(sorted(files)))
