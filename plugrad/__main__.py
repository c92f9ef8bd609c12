"""The console script `plugrad`, also `python -m plugrad` and `python -m core`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from plugrad import PACKAGES, ROOT, in_the_way


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command with plugrad's own packages, whatever else has their names here."""
    if in_the_way():
        sys.path.insert(0, ROOT)
        for name in list(sys.modules):
            if name.partition(".")[0] in PACKAGES:
                del sys.modules[name]
    from plugrad.commands.main import main as run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
