"""The command line: ``python -m benchmarks`` and a command, ``--check`` or ``--record``."""

import argparse
import sys
from collections.abc import Sequence

from benchmarks import (
    BenchmarkError,
    importtime,
    instructions,
    overhead,
    parallel,
    threads,
    typecheck,
)

COMMANDS = {
    "overhead": overhead,
    "importtime": importtime,
    "parallel": parallel,
    "threads": threads,
    "typecheck": typecheck,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure plugrad.")
    counting = top.add_mutually_exclusive_group()
    counting.add_argument(
        "--check",
        action="store_const",
        const=instructions.check,
        dest="count",
        help="compare the chain's instruction count with the recorded one",
    )
    counting.add_argument(
        "--record",
        action="store_const",
        const=instructions.record,
        dest="count",
        help="record the chain's instruction count for this Python and NumPy",
    )
    commands = top.add_subparsers(dest="command")
    for name, module in COMMANDS.items():
        about = (module.__doc__ or "").splitlines()[0]
        command = commands.add_parser(name, help=about, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(main=module.main)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one measurement and return the exit status."""
    top = parser()
    options = top.parse_args(arguments)
    if bool(options.count) == bool(options.command):
        top.error(f"give one of: a command ({', '.join(COMMANDS)}), --check or --record")
    try:
        return int(options.count() if options.count else options.main(options))
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
