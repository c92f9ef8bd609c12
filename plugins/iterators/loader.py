"""What a worker process of an iterator holds: a copy of the dataset, to load examples from."""

from __future__ import annotations

import mmap
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.registry.threads import set_threads
from plugins.iterators.positioned import located
from plugins.processes import generators
from plugins.processes.ipc import decode
from plugins.processes.settings import take

_WORD = (1 << 64) - 1  # an index may count from the end


class Loader:
    """Loads examples of the dataset in the file at `path`.

    All that load from one file share the memory of its arrays, until they write to them.
    """

    unsendable = (
        "MultiprocessIterator: the examples cannot be pickled, which worker processes need; use "
        "threads. Indices: {0}."
    )

    path: Path

    def __init__(self) -> None:
        self._dataset: Any = None

    def prepare(self) -> None:
        """Load the dataset."""
        set_threads(1)  # the workers beside it have the other processors
        try:
            with open(self.path, "rb") as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            self._dataset = decode(content)
        except Exception as error:
            error.add_note(
                "MultiprocessIterator: raised while a worker loaded its copy of the dataset."
            )
            if isinstance(error, AttributeError) and re.search("__(mp_)?main__", str(error)):
                error.add_note(
                    "Workers know what a module has at its top, but not what is defined in a "
                    "notebook or under `if __name__ == '__main__':`. Put the classes and functions "
                    "of the dataset into a module, or use MultithreadIterator."
                )
            raise
        # A forked copy draws what its siblings draw, and one whose modules seed where they come in.
        generators.seed_shared(None)
        generators.seed(None)

    def load(
        self, indices: Sequence[int], key: tuple[int, ...] | None, settings: dict[str, Any]
    ) -> list[Any]:
        """The examples at some indices; `key`, its place and the index seed each of them.

        `settings` are those of `core.config` where they were asked for.
        """
        take(settings)
        examples = []
        for place, index in enumerate(indices):
            try:
                if key is not None:
                    own = (*key[:-1], key[-1] + place, index & _WORD)
                    generators.seed_shared(own)
                    generators.seed(own)
                examples.append(self._dataset[index])
            except (Exception, SystemExit) as error:
                where = f"MultiprocessIterator: raised by dataset[{index}] in a worker process."
                raise located(error, where)  # noqa: B904 - it is the error itself, or has it as cause
        return examples
