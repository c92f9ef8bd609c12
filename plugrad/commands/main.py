"""The command `plugrad`: what is installed here, and whether it is in order."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout

from core.errors import CoreError
from core.registry import PluginWarning
from core.show.report import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and print its report; the exit status is 0 where all is well."""
    options = _parser().parse_args(arguments)
    with ExitStack() as context:
        # Commands report failed plugins themselves.
        context.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", PluginWarning)
        if options.json:  # which is to be alone on stdout, whatever plugins and scripts print
            context.enter_context(redirect_stdout(sys.stderr))
        try:
            report = _COMMANDS[options.command](options)
        except CoreError as error:
            print(f"plugrad {options.command}: {error}", file=sys.stderr)
            return 2
    _print(json.dumps(report.data, indent=2) if options.json else report.text)
    return report.status


def _print(text: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        # The reader, such as `head`, has enough; the interpreter's last flush must not fail too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    from core import __version__

    parser = argparse.ArgumentParser(
        prog="plugrad",
        description="What plugrad finds on this machine, and whether it is in order.",
        epilog="Start with `plugrad doctor` where something does not work; "
        "`plugrad COMMAND --help` says more of each.",
    )
    parser.add_argument("--version", action="version", version=f"plugrad {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (summary, description) in _HELP.items():
        command = commands.add_parser(name, help=summary, description=description)
        command.add_argument("--json", action="store_true", help="print it as JSON, for programs")
        if name == "info":
            command.add_argument(
                "--ops", action="store_true", help="list every operation and how it is tested"
            )
            command.add_argument(
                "--capture",
                nargs=argparse.REMAINDER,
                metavar="SCRIPT",
                help="run a script, and say which steps were captured, and what was left to eager",
            )
        if name == "new":
            _describe_new(command)
        if name in ("watch", "report"):
            _describe_runs(name, command)
        if name == "port":
            command.add_argument("files", nargs="+", metavar="FILE", help="a program for Chainer")
            command.add_argument("--write", action="store_true", help="change the files")
        if name == "check":
            command.add_argument("path", nargs="?", help="its folder; this one by default")
        if name in _OUTPUTS:
            where, does = _OUTPUTS[name]
            command.add_argument("--output", metavar=where, help=does)
            command.add_argument(
                "--check",
                action="store_true",
                help="write nothing; fail where a file is not up to date",
            )
    return parser


def _describe_new(command: argparse.ArgumentParser) -> None:
    from plugrad.commands.new import KINDS_OF_PLUGINS

    command.add_argument("name", help="such as 'swoosh', for the distribution plugrad-swoosh")
    command.add_argument("--output", metavar="DIR", help="its folder; plugrad-NAME by default")
    for kind in KINDS_OF_PLUGINS:
        command.add_argument(
            f"--{kind.replace('_', '-')}",
            dest="kinds",
            action="append_const",
            const=kind,
            help=f"with a module and tests for {kind.replace('_', ' ')}s",
        )


def _describe_runs(name: str, command: argparse.ArgumentParser) -> None:
    command.add_argument("folders", nargs="+", metavar="FOLDER", help="of a run, or of several")
    if name == "report":
        command.add_argument("-o", "--output", metavar="FILE", default="report.html")
        return
    command.add_argument("--port", type=int, help="8686 by default, or a free one if it is taken")
    command.add_argument("--host", default="127.0.0.1", help="the address to listen at")
    command.add_argument(
        "--public", action="store_true", help="also where others than this machine can read it"
    )


def _plugins(options: argparse.Namespace) -> Report:
    from plugrad.commands.listing import plugins

    return plugins()


def _backends(options: argparse.Namespace) -> Report:
    from plugrad.commands.listing import backends

    return backends()


def _info(options: argparse.Namespace) -> Report:
    from core.show.info import info
    from plugrad.commands.ops import ops

    if options.capture is not None:
        from plugrad.commands.captured import captured

        return captured(*options.capture)
    return ops() if options.ops else info()


def _stubs(options: argparse.Namespace) -> Report:
    from plugrad.commands.stubs import stubs

    return stubs(options.output, options.check)


def _reference(options: argparse.Namespace) -> Report:
    from plugrad.commands.reference import reference

    return reference(options.output, options.check)


def _architecture(options: argparse.Namespace) -> Report:
    from plugrad.commands.architecture import architecture

    return architecture(options.output, options.check)


def _new(options: argparse.Namespace) -> Report:
    from plugrad.commands.new import new

    return new(options.name, options.kinds or (), options.output)


def _check(options: argparse.Namespace) -> Report:
    from plugrad.commands.check import check

    return check(options.path)


def _watch(options: argparse.Namespace) -> Report:
    from plugrad.commands.watch import watch

    return watch(options.folders, options.host, options.port, options.public)


def _report(options: argparse.Namespace) -> Report:
    from plugrad.commands.watch import report

    return report(options.folders, options.output)


def _port(options: argparse.Namespace) -> Report:
    from plugrad.commands.port import port

    return port(options.files, options.write)


def _doctor(options: argparse.Namespace) -> Report:
    from plugrad.commands.doctor import doctor

    return doctor()


_HELP = {
    "plugins": (
        "list what is installed, and the functions, links, ... that each package gives",
        "List the packages that extend plugrad here: their versions, whether they could be loaded "
        "and if not, why, and what each gives, such as functions and links.",
    ),
    "backends": (
        "list where arrays can be computed: NumPy, a GPU, ...",
        "List the array libraries that plugrad can compute with (`core.use(name)`), and for each "
        "one that cannot be used here, why.",
    ),
    "info": (
        "print versions and settings, to go with a bug report",
        "Print the versions of Python, plugrad and its libraries, the processor, and the settings "
        "in use: what a bug report should hold.",
    ),
    "stubs": (
        "let editors and type checkers know all functions and links that are installed",
        "Write type stubs (.pyi) of `core.functions`, `core.links` and their kin, from which "
        "editors complete names and mypy and pyright check calls. With --output, of all that is "
        "installed here: give the folder to the type checker as its path of stubs.",
    ),
    "reference": (
        "write pages that list all bundled functions, links, ...",
        "Write Markdown pages that list what comes with plugrad, by family, with a line each.",
    ),
    "architecture": (
        "draw which parts of plugrad import which",
        "Draw the rooms of the core, the kinds of plugins and the families of functions, with an "
        "arrow to what each imports, as Mermaid pictures in docs/architecture.md.",
    ),
    "new": (
        "write a plugin to begin with",
        "Write a distribution with a function, a link, an optimizer, ... that is registered, typed "
        "and tested, with a README, a licence and a file for continuous integration. Without an "
        "option for a kind, it has a function.",
    ),
    "check": (
        "look at a plugin of yours before it is published",
        "In the folder of a plugin: is it installed and found, can all names be imported, do its "
        "tests, lint and types pass, and does its wheel hold licence, types and entry points? The "
        "exit status is 1 where something is wrong.",
    ),
    "port": (
        "rewrite a program for Chainer so that it imports plugrad",
        "Show, as a diff, how programs for Chainer of any version read with plugrad's imports and "
        "today's arguments, and list what a person must decide, with the lines. With --write the "
        "files are changed. The exit status is 1 where something is left to decide.",
    ),
    "watch": (
        "follow trainings in the browser: curves, pictures, histograms, records",
        "Serve a page on this machine that follows the runs in folders of results, finished ones "
        "too, beside each other. It only reads, and asks no other host for anything.",
    ),
    "report": (
        "write what `plugrad watch` shows as one file to send",
        "Write the page of `plugrad watch` with all that it shows into one HTML file. It holds "
        "the record of each run too, such as its command and the name of the machine.",
    ),
    "doctor": (
        "find out why something does not work",
        "Check this installation: packages that fail or contradict one another, files of yours "
        "that stand in the way, wrong settings. Every problem comes with what to do about it; the "
        "exit status is 1 where there is one.",
    ),
}
_OUTPUTS = {
    "stubs": ("DIR", "write stubs of all that is installed into this folder"),
    "reference": ("DIR", "write the pages into this folder instead of docs/reference"),
    "architecture": ("FILE", "draw into this page instead of docs/architecture.md"),
}
_COMMANDS: dict[str, Callable[[argparse.Namespace], Report]] = {
    "plugins": _plugins,
    "backends": _backends,
    "info": _info,
    "stubs": _stubs,
    "reference": _reference,
    "architecture": _architecture,
    "new": _new,
    "check": _check,
    "port": _port,
    "watch": _watch,
    "report": _report,
    "doctor": _doctor,
}
