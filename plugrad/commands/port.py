"""`plugrad port`: rewriting a program for Chainer, of any version, so that it imports plugrad.

Imports, and calls whose meaning is plain, are rewritten; comments and layout stay (LibCST). What a
person must decide is listed with its line.
"""

from __future__ import annotations

import ast
import difflib
import tokenize
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from core.errors import CoreError
from core.show.report import Report


class PortError(CoreError, ValueError):
    """A program that cannot be rewritten; the message says why."""


class Ported(NamedTuple):
    """A rewritten program, and what a person must decide: lines of the original and sentences."""

    text: str
    open: list[tuple[int, str]]


def port(files: Sequence[str], write: bool = False) -> Report:
    """Show what would be rewritten in files, or write it; the status is 1 where something is open.

    Encodings and ends of lines stay as they are.

    Raises:
        PortError: A file cannot be read, or is not Python 3, or LibCST is not installed; then none
            is written.
    """
    shown: list[str] = []
    data = []
    changed: list[tuple[str, bytes]] = []
    for name in files:
        text, encoding = _read(name)
        ported = rewritten(text, name)
        diff = difflib.unified_diff(
            text.splitlines(True), ported.text.splitlines(True), name, f"{name} (ported)"
        )
        shown.append("".join(diff) or f"{name}: nothing to rewrite\n")
        shown += [f"{name}:{line}: {what}\n" for line, what in ported.open]
        if write and ported.text != text:
            changed.append((name, ported.text.encode(encoding)))
        data.append({"file": name, "changed": ported.text != text, "open": ported.open})
    for name, written in changed:
        Path(name).write_bytes(written)
    return Report(data, "".join(shown).rstrip(), int(any(each["open"] for each in data)))


def _read(name: str) -> tuple[str, str]:
    """The text of a file, and its encoding, as the file itself says."""
    if name.endswith(".ipynb"):  # which Python takes for a dict
        raise PortError(
            f"{name}: expected a program, got a notebook. `jupyter nbconvert --to script {name}` "
            "writes its code as one."
        )
    try:
        data = Path(name).read_bytes()
        encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
        return data.decode(encoding), encoding
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        raise PortError(f"{name} cannot be read: {error}") from error


def rewritten(text: str, name: str = "program") -> Ported:
    """The program `text`, rewritten; raises PortError where it cannot be read.

    >>> rewritten("y = chainer.functions.relu(x); import chainer").text
    'y = chainer.functions.relu(x); import core as chainer'
    """
    try:
        import libcst
        from libcst.metadata import MetadataWrapper
    except ImportError as error:
        raise PortError(
            "LibCST is not installed: pip install 'plugrad[port]' (or pip install libcst)."
        ) from error
    from plugrad.commands.port_tree import rewriter

    try:
        tree = libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
        line, said = _fault(text) or (error.raw_line, error.message)
        raise PortError(
            f"{name}:{line}: this is not Python 3: {said}. Run 2to3 of a Python before 3.13 on it "
            "first."
        ) from error
    visitor = rewriter()
    return Ported(MetadataWrapper(tree).visit(visitor).code, sorted(set(visitor.open)))


def _fault(text: str) -> tuple[int | None, str] | None:
    """Line and words of Python's own refusal of a program, which are more exact than LibCST's."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno, error.msg
    except ValueError:  # as for a null byte, before Python 3.12
        pass
    return None
