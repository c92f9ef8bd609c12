"""Random numbers of ranks: what each draws by itself, and what all draw alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np

from core.arrays import backend, random_streams
from core.link import Parameter
from core.link.initializer import Initializer
from core.optimizer import Step, UpdateRule
from core.training import Communicator

_WORD = (1 << 64) - 1
_APART = 0x9E3779B97F4A7C15  # between the seeds of the ranks: 2^64 over the golden ratio
_SHARED = 0x5851F42D4C957F2D  # added to the seed of what all ranks draw alike
_PLACES = 32  # of a number of examples in a note, below what random numbers follow from


class Draws:
    """What hooks of an optimizer draw: for a parameter the same on all ranks, anew in each step."""

    def __init__(self) -> None:
        self._seed: int | None = None  # of what all ranks draw alike
        self._numbers: dict[int, int] = {}  # of the rules by their `id`
        self._rounds: int | None = None  # of hooks in the step under way

    def agree(self, comm: Communicator, rules: Sequence[UpdateRule | None]) -> None:
        """Let what each rank draws from now on be its own, and know what all draw alike."""
        self._seed = _draw_apart(comm)
        self._numbers = {id(rule): number for number, rule in enumerate(rules)}

    def noted(self, count: int) -> int:
        """A number of examples, from -1 on, as a note to all ranks.

        Where `core.seed` is not in force, it tells the state of NumPy's global generator as well.
        """
        return count + (0 if random_streams.stream() else _of_state() << _PLACES)

    def heard(self, notes: Sequence[int]) -> list[int]:
        """The numbers of examples in the notes of all ranks; what the first one told is kept."""
        counts = [((note + 1) & ((1 << _PLACES) - 1)) - 1 for note in notes]
        if found := (notes[0] - counts[0]) >> _PLACES:
            self._seed = (found + _SHARED) & _WORD
        return counts

    @contextmanager
    def alike(self, t: int) -> Iterator[None]:
        """A context of the step after `t` others, in which all ranks draw alike."""
        stream = random_streams.stream()
        own = None if stream is None else stream.get_state()
        self._rounds = 0
        self.begin(None, t)
        try:
            yield
        finally:
            self._rounds = None
            random_streams.set_stream_state(own)

    def go_on(self) -> None:
        """Draw something else for each parameter, as the next hook does."""
        if self._rounds is not None:
            self._rounds += 1

    def begin(self, rule: UpdateRule | None, t: int, after: bool = False) -> None:
        """Draw from a stream that the parameter of a rule has to itself, wherever that is.

        What is drawn `after` steps is nothing that was drawn before them.
        """
        if self._rounds is not None and self._seed is not None:
            seed = self._seed + (1 + self._numbers.get(id(rule), -1)) * _APART
            draws = (t << 32) + (after << 31) + (self._rounds << 16)
            random_streams.set_stream_state({"seed": seed & _WORD, "draws": draws})


def _draw_apart(comm: Communicator) -> int | None:
    """Let what each rank draws from now on be its own; the seed of what all draw alike.

    Ranks of one seed get others, as far apart as can be. None where `core.seed` is not in force on
    the first rank.
    """
    stream: Any = backend.random_state()["stream"]
    seeds = comm.allgather_obj(stream and stream["seed"])
    if stream is not None and stream["seed"] in seeds[: comm.rank]:
        own = (stream["seed"] + comm.rank * _APART) & _WORD
        random_streams.set_stream_state({**stream, "seed": own})
    return None if seeds[0] is None else (seeds[0] + _SHARED) & _WORD


def _of_state() -> int:
    """31 bits that follow from NumPy's global generator, of which nothing is drawn for them."""
    state: Any = np.random.get_state(legacy=False)
    digest = blake2b(digest_size=4)
    for _, part in sorted(state["state"].items()):
        digest.update(str(part).encode() if isinstance(part, int) else np.asarray(part).tobytes())
    return int.from_bytes(digest.digest()) >> 1 or 1


class FromRankZero(Initializer):
    """Fills a parameter on all ranks with what its initializer draws on rank 0."""

    def __init__(self, comm: Communicator, parameter: Parameter) -> None:
        self.own, self._comm = parameter.initializer, comm
        self._what = f"size of {parameter.name or 'a parameter'}"
        super().__init__(getattr(self.own, "dtype", None))

    def __call__(self, array: Any) -> None:
        """Fill `array`, on all ranks at once."""
        self._comm.compare(self._what, [f"{array.dtype} {tuple(array.shape)}"])
        self.own(array)
        found = self._comm.bcast(array)
        if self._comm.rank != 0:
            array[...] = found


class DrawingStep(Step):
    """The step of a rule with hooks, which draw what they do on every rank."""

    __slots__ = ("_optimizer",)
    _optimizer: Any

    @classmethod
    def of_step(cls, optimizer: Any, step: Step) -> Step:
        """The same step."""
        made = cls(step.parameter, step.rule, step.grad)
        made._optimizer = optimizer
        return made

    def call_hooks(self) -> None:
        """Call the hooks of the rule before the step."""
        self._optimizer._draws.begin(self.rule, self._optimizer.t)
        super().call_hooks()

    def call_hooks_after(self) -> None:
        """Call the hooks of the rule after the step."""
        self._optimizer._draws.begin(self.rule, self._optimizer.t, after=True)
        super().call_hooks_after()
