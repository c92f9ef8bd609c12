"""A process for each copy of a model."""

from __future__ import annotations

import base64
import copy
import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from typing import Any

from core.arrays import backend
from core.dataset import Iterator, concat_examples
from core.errors import UpdateError
from core.errors.kinds import checked
from core.link.serializer import AbstractSerializer, Deserializer
from core.optimizer import Optimizer
from plugins.processes.ipc import allocate
from plugins.processes.mapped_files import Sent
from plugins.processes.settings import settings
from plugins.processes.workers import Answer, Words, WorkerDied, Workers
from plugins.training.updaters.meanwhile import Meanwhile
from plugins.training.updaters.replica import Board, Replica, differentiate
from plugins.training.updaters.standard_updater import StandardUpdater

_WORDS = Words(
    "MultiprocessParallelUpdater",
    held="a model, an iterator and a converter",
    instead="ParallelUpdater",
    during="during an update",
    memory="give fewer devices or smaller batches",
    after="The parameters are those of the last whole update: make a new updater, and resume from "
    "a snapshot.",
)


class MultiprocessParallelUpdater(StandardUpdater):
    """Compute gradients in several processes, average them, and update with the mean.

    `iterators` has an iterator for each of the `devices`, which are a list, or a dict with 'main'
    in it; None puts all on the host. Every process has a copy of the model and its own iterator,
    and computes the gradient of its own batch; this one, with the first iterator, does so too, and
    is the one that reports, counts epochs and updates. Gradients and parameters go through shared
    memory of the host; what is changed in the model between updates, as parameters, what is frozen,
    and attributes of links that are numbers or text, is told to the processes in the next one.

    With parts of one dataset that are equally long, as `split_dataset_n_random` makes them, and a
    loss that is a mean over its examples, an update is the one that StandardUpdater makes with the
    batches of all processes in one, up to rounding; hyper-parameters stay what they are.

    It is for one machine, and needs no launcher; for several machines, models over several
    processes, and runs that resume on another number of them, see `core.communicators`.

    The processes start at the first update, from afresh (spawn): a script needs
    `if __name__ == "__main__":` around what it does, and model, iterators and converter must be
    picklable. A process that dies is an error within seconds. `finalize` ends them. Snapshots hold
    where each of them is: a resumed run ends with the same bits.

    Raises ValueError where iterators, devices and datasets do not go together.
    """

    @checked
    def __init__(
        self,
        iterators: Sequence[Iterator],
        optimizer: Optimizer,
        converter: Callable[[list[Any], Any], Any] = concat_examples,
        devices: Sequence[Any] | dict[str, Any] | None = None,
        auto_new_epoch: bool = True,
    ) -> None:
        iterators = list(iterators)
        self._devices = _as_list(devices, len(iterators))
        _check(iterators, self._devices)
        super().__init__(
            iterators[0],
            optimizer,
            converter,
            device=self._devices[0],
            auto_new_epoch=auto_new_epoch,
        )
        self._own_iterators = iterators[1:]
        self._states = [""] * len(self._own_iterators)  # loaded, and not yet handed over
        self._meanwhile = Meanwhile()
        self._board: Board | None = None
        self._workers: Workers | None = None
        self._steps: list[Answer] = []  # what the processes are at

    @staticmethod
    def available() -> bool:
        """Whether this Python can start processes."""
        return importlib.util.find_spec("_multiprocessing") is not None

    def setup_workers(self) -> None:
        """Start the processes; the first update does it. All parameters must be initialized."""
        missing = _uninitialized(self.get_optimizer("main").target)
        if missing and self._workers is None:
            raise UpdateError(
                "MultiprocessParallelUpdater: expected all parameters to be initialized before the "
                f"processes start, but {', '.join(missing)} are not. Give the links their input "
                "sizes, or let the first update start the processes."
            )
        self._start()

    def _start(self) -> None:
        if self._workers is None:
            target = self.get_optimizer("main").target
            self._board = Board(target, len(self._own_iterators), allocate)
            replicas = self._replicas(target, self._board)
            self._workers = Workers(_WORDS, [(1, replica) for replica in replicas], stay=True)
            self._workers.start()
            self._hand_states_over()

    def _replicas(self, target: Any, board: Board) -> list[Replica]:
        self._meanwhile.see(target)
        model = copy.deepcopy(target)
        for parameter in model.params():
            parameter.update_rule = None  # and its state: the copies are never updated
            parameter.cleargrad()
        rest = zip(map(Sent, self._own_iterators), self._devices[1:], strict=True)
        return [
            Replica(number, model, iterator, self.converter, device, board, len(self._devices))
            for number, (iterator, device) in enumerate(rest, 1)
        ]

    def update_core(self) -> None:
        """Take a batch in each process, and update with the mean of the gradients."""
        optimizer = self.get_optimizer("main")
        target = optimizer.target
        waiting = self._workers is None and bool(_uninitialized(target))
        if not waiting:
            self._begin_step(optimizer)
        arrays = self.converter(self.next_batch(), self._input_device)
        differentiate(target, arrays, optimizer.loss_scale)
        if waiting:  # for the parameters, which the loss has initialized by now
            self._begin_step(optimizer)
        self._take_mean(target)
        optimizer.update()
        self._meanwhile.see(target)
        self.count_epoch()

    def _begin_step(self, optimizer: Any) -> None:
        self._start()
        if self._workers is not None and self._board is not None:
            self._board.put_parameters(optimizer.target)
            changes = self._meanwhile.changes(optimizer.target)
            given = optimizer.loss_scale, changes, settings()
            self._steps = [self._workers.ask(i, "step", *given) for i in range(len(self._states))]

    def _take_mean(self, target: Any) -> None:
        """Replace the gradients by the mean over all processes; one that has none counts as 0."""
        if self._workers is None or self._board is None:
            return
        answers = self._finish_step(self._workers)
        self._board.check(target)
        rows = [dict(self._board.row(number)) for number in range(1, 1 + len(answers))]
        for path, parameter in target.namedparams():
            found = [row[path] for row, paths in zip(rows, answers, strict=True) if path in paths]
            if parameter.grad is not None:
                found.insert(0, backend.to_host(parameter.grad))
            if found:
                mean = _mean(found, len(self._devices))
                parameter.grad = backend.to_backend(mean, parameter.device)

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load what StandardUpdater does, and where each process is."""
        super().serialize(serializer)
        for i in range(len(self._states)):
            text = serializer(f"worker:{i + 1}", self._state(i, serializer))
            if isinstance(serializer, Deserializer):
                self._states[i] = text
        if isinstance(serializer, Deserializer) and self._workers is not None:
            self._hand_states_over()

    def _state(self, i: int, serializer: AbstractSerializer) -> str:
        if self._workers is None or isinstance(serializer, Deserializer):
            return self._states[i]
        if self._steps:  # this process has failed in it, and the others have answered
            self._finish_step(self._workers)
        return _text(self._ask(self._workers, i, "state"))

    def _finish_step(self, workers: Workers) -> list[Any]:
        """The answers of all to the step; raises what the first to fail has raised."""
        answers: dict[int, Any] = {}
        numbers = {step: i for i, step in enumerate(self._steps)}
        try:
            for step in as_completed(numbers):
                answers[numbers[step]] = workers.hear(step, numbers[step])
        except BaseException:
            workers.close()
            raise
        self._steps = []
        return [answers[i] for i in range(len(answers))]

    def _ask(self, workers: Workers, i: int, method: str, *arguments: Any) -> Any:
        return workers.hear(workers.ask(i, method, *arguments), i)

    def _hand_states_over(self) -> None:
        for i, state in enumerate(self._states):
            if state and self._workers is not None:
                self._ask(self._workers, i, "load", base64.b64decode(state))

    def finalize(self) -> None:
        """End the processes, and let the iterators release what they hold.

        Where they were is kept: what has been trained can still be saved, or go on.
        """
        workers = self._workers
        if workers is not None and workers.close.alive and not self._steps:
            with suppress(WorkerDied):
                indices = range(len(self._states))
                self._states = [_text(self._ask(workers, i, "leave")) for i in indices]
                self._workers = None
        if workers is not None:
            workers.close()
        super().finalize()
        for iterator in self._own_iterators:
            iterator.finalize()


def _as_list(devices: Any, length: int) -> list[Any]:
    if devices is None:
        return [None] * length
    if not isinstance(devices, dict):
        return list(devices)
    if "main" not in devices:
        raise ValueError(
            "MultiprocessParallelUpdater: expected a device called 'main', got "
            f"{', '.join(map(repr, devices)) or 'none'}."
        )
    return [devices["main"], *(device for name, device in devices.items() if name != "main")]


def _check(iterators: list[Any], devices: list[Any]) -> None:
    if not iterators or len(iterators) != len(devices):
        raise ValueError(
            "MultiprocessParallelUpdater: expected as many iterators as devices, at least one; got "
            f"{len(iterators)} and {len(devices)}. Share the dataset out with "
            "datasets.split_dataset_n_random(dataset, n)."
        )
    lengths = {len(each.dataset) for each in iterators if hasattr(each, "dataset")}
    if len(lengths) > 1:
        raise ValueError(
            "MultiprocessParallelUpdater: expected datasets of one length, got lengths of "
            f"{', '.join(map(str, sorted(lengths)))}. datasets.split_dataset_n_random makes parts "
            "that are equally long."
        )


def _text(state: bytes) -> str:
    return base64.b64encode(state).decode()


def _uninitialized(target: Any) -> list[str]:
    return [path for path, parameter in target.namedparams() if not parameter.is_initialized]


def _mean(arrays: list[Any], n: int) -> Any:
    """The sum over `n`, added up in at least float32."""
    dtype = arrays[0].dtype
    total = arrays[0].astype("float32" if dtype.itemsize < 4 else dtype)  # a copy
    for array in arrays[1:]:
        total += array
    total /= n
    return total.astype(dtype, copy=False)
