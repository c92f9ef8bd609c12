"""The console script `plugrad`, also `python -m core`: what is installed, and is it in order."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence

from core.commands.report import Report
from core.errors import CoreError
from core.registry import PluginWarning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and print its report; the exit status is 0 where all is well."""
    options = _parser().parse_args(arguments)
    with warnings.catch_warnings():
        # Commands report failed plugins themselves.
        warnings.simplefilter("ignore", PluginWarning)
        try:
            report = _COMMANDS[options.command](options)
        except CoreError as error:
            print(f"plugrad {options.command}: {error}", file=sys.stderr)
            return 2
    _print(json.dumps(report.data, indent=2) if options.json else report.text)
    return report.status


def _print(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader, such as `head`, has enough; the interpreter's last flush must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="plugrad", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in _SUMMARIES.items():
        command = commands.add_parser(name, help=summary, description=summary)
        command.add_argument("--json", action="store_true", help="print the report as JSON")
        if name == "info":
            command.add_argument(
                "--ops", action="store_true", help="print which checks prove which operations"
            )
        if name in ("stubs", "reference"):
            command.add_argument("--output", metavar="DIR", help=_OUTPUTS[name])
            command.add_argument(
                "--check", action="store_true", help="write nothing; fail where one is stale"
            )
    return parser


def _plugins(options: argparse.Namespace) -> Report:
    from core.commands.listing import plugins

    return plugins()


def _backends(options: argparse.Namespace) -> Report:
    from core.commands.listing import backends

    return backends()


def _info(options: argparse.Namespace) -> Report:
    from core.commands.info import info
    from core.commands.ops import ops

    return ops() if options.ops else info()


def _stubs(options: argparse.Namespace) -> Report:
    from core.commands.stubs import stubs

    return stubs(options.output, options.check)


def _reference(options: argparse.Namespace) -> Report:
    from core.commands.reference import reference

    return reference(options.output, options.check)


def _doctor(options: argparse.Namespace) -> Report:
    from core.commands.doctor import doctor

    return doctor()


_SUMMARIES = {
    "plugins": "list every plugin: distribution, version, state, what it gives",
    "backends": "list every array backend: available, or why not",
    "info": "print versions, processor, threads and settings",
    "stubs": "write type stubs of the faces, beside them or with --output elsewhere",
    "reference": "write pages that list every bundled name by family",
    "doctor": "look for what is wrong with this installation",
}
_OUTPUTS = {
    "stubs": "write stubs for all that is installed to DIR",
    "reference": "write the pages to DIR instead of docs/reference",
}
_COMMANDS: dict[str, Callable[[argparse.Namespace], Report]] = {
    "plugins": _plugins,
    "backends": _backends,
    "info": _info,
    "stubs": _stubs,
    "reference": _reference,
    "doctor": _doctor,
}

if __name__ == "__main__":
    sys.exit(main())
