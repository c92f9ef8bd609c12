"""`plugrad port`: rewriting a program for Chainer, of any version, so that it imports plugrad.

Imports, and calls whose meaning is plain, are rewritten; comments and layout stay (LibCST). What a
person must decide is listed with its line.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import tokenize
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import BackendUnavailable, CoreError
from core.show.report import Report

_FACADES = ("functions", "links", "optimizers", "optimizer_hooks", "initializers", "iterators",
            "datasets", "serializers", "function_hooks", "link_hooks", "distributions",
            "training.extensions", "training.triggers", "training.updaters", "dataset", "testing",
            "utils")  # fmt: skip
_FAMILIES = ("activation", "array", "caffe", "connection", "evaluation", "loss", "math", "model",
             "noise", "normalization", "pooling", "rnn", "theano", "util")  # fmt: skip
_FLAT = {f"chainer.{name}" for name in (
    "links", "optimizers", "optimizer", "initializers", "iterators", "datasets", "serializers",
    "function_hooks", "link_hooks", "distributions", "training.extensions", "training.triggers",
    "training.updaters")}  # fmt: skip
"""Packages whose names stand in them, not in modules below them."""
_MODE = "Leave it out, and call the model within `with core.using_config('train', ...):`."
_DECIDE = {
    "train": _MODE,
    "test": _MODE,
    "volatile": "Compute within `with core.no_backprop_mode():`.",
    "wscale": "Give initialW=core.initializers.LeCunNormal(scale) and no other initialW.",
}
_METHODS = {
    "clip_grads": "Add the hook core.optimizer_hooks.GradientClipping(threshold) after setup().",
    "weight_decay": "Add the hook core.optimizer_hooks.WeightDecay(rate) after setup().",
    "compute_grads_norm": "Add the hook core.optimizer_hooks.GradientClipping to limit the norm.",
    "accumulate_grads": "Call target.addgrads(link).",
    "copy_parameters_from": "Call copyparams(link).",
}
_MEANS = "Give Evaluator.__init__ weigh_batches=False, so that batches count alike, as in Chainer."


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


def place(path: str) -> str:
    """The module here of a module of Chainer.

    >>> place("chainer.functions.loss.vae"), place("chainer.backends.cuda")
    ('core.functions', 'core.backends.cuda')
    """
    below = path.partition(".")[2]
    for facade in _FACADES:
        if below == facade or below.startswith(facade + "."):
            deeper = f"core.{below}"
            return deeper if has_module(deeper) else f"core.{facade}"
    return f"core.{below}" if below else "core"


@cache
def is_collapsed(path: str) -> bool:
    """Whether a path is that of a module of Chainer, whose names stand in a module above it here.

    A file is called by what is in it: `optimizers.adam` has Adam, `datasets.mnist` get_mnist.

    >>> is_collapsed("chainer.functions.activation.relu"), is_collapsed("chainer.functions.relu")
    (True, False)
    """
    home = place(path)
    if home == f"core.{path.partition('.')[2]}":
        return False
    parent, _, name = path.rpartition(".")
    _, facade, *below = *path.split("."), ""
    if facade in ("functions", "links") and below[:1] and below[0] in _FAMILIES:
        return name == name.lower() and len(below) <= 3
    if has(place(parent), name):
        return False
    plain = name.replace("_", "")
    return any(
        plain in each.lower().replace("_", "") for each in dir(importlib.import_module(home))
    )


def is_distribution(path: str) -> bool:
    """Whether a path is that of a distribution, which Chainer has beside its modules."""
    module, _, name = path.rpartition(".")
    return module == "chainer" and not has("core", name) and has("core.distributions", name)


def whereabouts(path: str, whole: bool, long: bool) -> str | None:
    """What is written below `chainer` for what it names: '' as it is, None where it is not here.

    Nothing follows what is `whole`. What is not `long` has no more before its name than a module,
    which the import brings.

    >>> whereabouts("chainer.links.connection.linear.Linear", True, True)
    'links.Linear'
    """
    module, _, name = path.rpartition(".")
    if module.startswith("chainer.functions") and not has("core.functions", name):
        if has("core.links", name):
            return f"links.{name}"
        return None if whole and name not in _FAMILIES else ""
    home = place(module)
    stays = home == module.replace("chainer", "core", 1)
    flat = module in _FLAT or (home != "core" and is_collapsed(module))
    if whole and (flat or (stays and has_module(home))) and not has(home, name):
        return None
    above, _, last = module.rpartition(".")
    is_class = not is_collapsed(module) and has(place(above), last)
    if stays or is_class or not long or (whole and module in _FLAT):
        return ""
    return f"{home.partition('.')[2]}.{name}"


def has_module(path: str) -> bool:
    """Whether a module is here, at this path or by an old one."""
    try:
        importlib.import_module(path)
    except ImportError:
        return False
    return True


def has(module: str, name: str) -> bool:
    """Whether a module here has a name, on machines where CUDA can be used."""
    try:
        return hasattr(importlib.import_module(module), name) or has_module(f"{module}.{name}")
    except ImportError:
        return False
    except BackendUnavailable:
        return True


def downloads(name: str) -> bool:
    """Whether a dataset is downloaded by Chainer, and only on request here."""
    from core import datasets

    function: Any = getattr(datasets, name, None)
    return name.startswith("get_") and "download" in inspect.signature(function).parameters
