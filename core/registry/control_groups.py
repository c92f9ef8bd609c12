"""How much of a machine's processors Linux lets this process have.

Containers are limited by control groups: not in how many processors they may run on, but in the
time for which they may compute in each tenth of a second. More threads than that fits use it up
at once, and then all of them stand still for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from math import ceil
from pathlib import Path


def processors(root: Path = Path("/")) -> int | None:
    """How many processors the time is for that the process may compute, rounded up.

    None where there is no limit. Whoever is in a group is in all groups around it, so the least
    limit holds.
    """
    found = []
    with suppress(OSError, ValueError):  # no control groups, or none like these
        for allowed, period in _limits(root):
            if allowed != "max" and int(allowed) > 0:  # version 1 says -1 where there is none
                found.append(ceil(int(allowed) / int(period)))
    return min(found, default=None)


def _limits(root: Path) -> Iterator[list[str]]:
    """Microseconds that may be used, and in how many, of each group around the process."""
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers:
            files = ["cpu.max"]  # version 2
        elif "cpu" in controllers.split(","):
            files = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        # A container may find its group's files at the top, whatever the group's name.
        for folder in (Path(group), *Path(group).parents):
            place = root / "sys/fs/cgroup" / controllers / folder.relative_to("/")
            with suppress(OSError):
                yield [number for file in files for number in (place / file).read_text().split()]
