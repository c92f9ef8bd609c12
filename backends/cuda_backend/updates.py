"""All parameters of an optimizer in one launch, whatever its rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.cuda_backend.kernels.update import CHUNK, record, source
from backends.cuda_backend.kernels.words import STORED
from core.optimizer import Unrecorded
from core.registry.once import publishing

THREADS = 256
MOST = 64  # tables that are kept; gradients mostly lie where they lay in an earlier step

Alike = tuple[str, tuple[str, ...], tuple[Any, ...]]


class Updates:
    """Kernels of a backend for the steps of update rules.

    Args:
        backend: Whose arrays they change.
        place_of: The address of an array's elements on its device.
        kernels: What compiles and launches.
    """

    def __init__(self, backend: Any, place_of: Callable[[Any], int], kernels: Any) -> None:
        self._backend = backend
        self._place_of = place_of
        self._kernels = kernels
        self._tables: dict[Any, Any] = {}

    def update_all(
        self, rule: Any, xp: Any, params: list[Any], grads: list[Any], states: list[Any]
    ) -> list[int]:
        """The steps of all parameters that a loop can make; the positions of the others."""
        groups: dict[Alike, list[int]] = {}
        left: list[int] = []
        for i, (param, grad, state) in enumerate(zip(params, grads, states, strict=True)):
            alike = self._alike(param, grad, state)
            if alike is None:
                left.append(i)
            else:
                groups.setdefault(alike, []).append(i)
        for (name, arrays, others), members in groups.items():
            sets = [(params[i], grads[i], *[states[i][n] for n in arrays]) for i in members]
            if not self._updated(rule, xp, name, arrays, dict(others), sets):
                left += members
        return sorted(left)

    def _alike(self, param: Any, grad: Any, state: Mapping[str, Any]) -> Alike | None:
        """What parameters of one launch have in common; None for one that suits none."""
        kind, name = self._backend.array_type, self._backend.dtype_name(param.dtype)
        if name not in STORED or "float" not in name:
            return None
        arrays = {key: value for key, value in state.items() if isinstance(value, kind)}
        for array in (param, grad, *arrays.values()):
            alike = array.dtype == param.dtype and array.shape == param.shape
            if not (alike and array.flags.c_contiguous):
                return None
        others = tuple([(key, value) for key, value in state.items() if key not in arrays])
        return name, tuple(arrays), others

    def _updated(
        self, rule: Any, xp: Any, name: str, states: Any, others: dict[str, Any], sets: list[Any]
    ) -> bool:
        """Whether a launch has made the steps."""
        try:
            made, numbers = record(rule, xp, sets[0][0].dtype, name, states, others)
        except (Unrecorded, AttributeError, TypeError):
            return False
        columns = zip(*sets, strict=True)
        places = tuple([self._place_of(array) for arrays in columns for array in arrays])
        written = [i for i, _ in made.changes]
        count = len(sets)
        if len({places[i * count + n] for i in written for n in range(count)}) < (
            len(written) * count
        ):  # of two parameters that share memory one would be lost
            return False
        sizes = tuple([arrays[0].size for arrays in sets])
        blocks = sum([-(-size // CHUNK) for size in sizes])
        if blocks:
            like = sets[0][0]
            tables = self._table(like, places, list), self._table(like, sizes, _divided)
            launch = self._kernels.ready(source(made))
            launch((blocks, 1), (THREADS, 1), (*tables, count, blocks, *numbers))
        return True

    def _table(
        self, like: Any, of: tuple[int, ...], made: Callable[[tuple[int, ...]], list[int]]
    ) -> Any:
        """What is made of numbers, on the device of an array."""
        key = self._backend.spec_device(like), of, made
        table = self._tables.get(key)
        if table is None:
            device = self._backend.device_of(like)
            table = self._backend.asarray(made(of), "int64", device)
            with publishing:
                if len(self._tables) >= MOST:
                    self._tables.clear()
                self._tables[key] = table
        return table


def _divided(sizes: tuple[int, ...]) -> list[int]:
    """Sizes of arrays, and for each block the number of its array and where it begins there."""
    chunks = [(n, b) for n, size in enumerate(sizes) for b in range(0, size, CHUNK)]
    owners, begins = zip(*chunks, strict=True)
    return [*sizes, *owners, *begins]
