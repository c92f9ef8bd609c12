"""The command line: ``python -m benchmarks`` and workloads, a command, or ``--check``."""

import argparse
import sys
from collections.abc import Sequence
from types import ModuleType

from benchmarks import (
    BenchmarkError,
    allocation,
    backend,
    busy,
    capture,
    cold,
    communication,
    compare,
    device,
    functions,
    growth,
    importtime,
    instructions,
    overhead,
    parallel,
    products,
    show,
    typecheck,
)
from benchmarks.rows import ROWS

COMMANDS = {
    "allocation": allocation,
    "show": show,
    "overhead": overhead,
    "growth": growth,
    "backend": backend,
    "busy": busy,
    "capture": capture,
    "cold": cold,
    "communication": communication,
    "functions": functions,
    "importtime": importtime,
    "parallel": parallel,
    "products": products,
    "typecheck": typecheck,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of what is no command: workloads, or counts of instructions."""
    others = "\n".join(f"  {name:<12}{_about(module)}" for name, module in COMMANDS.items())
    top = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=compare.__doc__,
        epilog=f"Or one of these commands, each with options of its own:\n{others}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
    compare.add_arguments(top)
    top.add_argument(
        "--device",
        default="",
        metavar="DEVICE",
        help="where all have their arrays, as cuda; eager and captured steps are measured, "
        f"of these by default: {', '.join(ROWS)}",
    )
    return top


def command_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    module = COMMANDS[name]
    found = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=module.__doc__)
    module.add_arguments(found)
    return found


def _about(module: ModuleType) -> str:
    return (module.__doc__ or "").splitlines()[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one measurement and return the exit status."""
    name, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    try:
        if name in COMMANDS:
            return int(COMMANDS[name].main(command_parser(name).parse_args(rest[:-1])))
        options = parser().parse_args(arguments)
        if options.count:
            return int(options.count())
        return int((device if options.device else compare).main(options))
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
