"""The rewriting itself, on LibCST's trees; see `plugrad.commands.port`."""

from __future__ import annotations

from typing import Any

import libcst as cst
from libcst.metadata import PositionProvider

from plugrad.commands import port

_DROPPED = {"use_cudnn", "deterministic"}


def rewriter() -> Any:
    """A visitor for one program."""
    return _Port()


def _dotted(node: Any) -> str:
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        front = _dotted(node.value)
        return front and f"{front}.{node.attr.value}"
    return ""


def _expression(text: str) -> Any:
    return cst.parse_expression(text)


class _Port(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[int, str]] = []
        self.bound: dict[str, str] = {}  # name in the program -> path in Chainer
        self._fronts: set[Any] = set()
        self.layers: set[str] = set()  # names of attributes that hold Chainer's links
        self._imported = self._needed = self._serializes = False

    def _decide(self, node: Any, what: str) -> None:
        self.open.append((self.get_metadata(PositionProvider, node).start.line, what))

    def _ours(self, path: str) -> Any:
        """A name of plugrad's in the program, which imports it for that if it has to."""
        self._needed = self._needed or "chainer" not in self.bound
        return _expression(f"chainer.{path}")

    def leave_Module(self, original: cst.Module, updated: cst.Module) -> cst.Module:
        """Import what was made use of, before other parts of plugrad are imported."""
        if not self._needed:
            return updated
        body = list(updated.body)
        first = next((i for i, line in enumerate(body) if _is_import(line)), None)
        if first is None:  # imported within a function
            self.open.append((1, "Import core as chainer first."))
            return updated
        leading = body[first].leading_lines
        body[first] = body[first].with_changes(leading_lines=[])
        added = cst.SimpleStatementLine(
            [cst.Import([cst.ImportAlias(cst.Name("core"), _as("chainer"))])],
            leading_lines=leading,
        )
        return updated.with_changes(body=[*body[:first], added, *body[first:]])

    # -- imports --------------------------------------------------------------------------------

    def visit_Import(self, node: cst.Import) -> bool:
        """Note what names mean before they are used; the paths themselves are no expressions."""
        for alias in node.names:
            path = _dotted(alias.name)
            if path.partition(".")[0] == "chainer":
                name = _dotted(alias.asname.name) if alias.asname else "chainer"
                self.bound[name] = path if alias.asname else "chainer"
        return False

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> Any:
        """Name plugrad's modules; `chainer` itself stays a name, of `core`."""
        names = []
        for alias in updated.names:
            path = _dotted(alias.name)
            root = path.partition(".")[0]
            if root in ("chainermn", "chainerx"):
                self._decide(original, _STRANGERS[root])
            if root != "chainer":
                names.append(alias)
            elif alias.asname is None:
                if not self._imported:
                    names.append(cst.ImportAlias(cst.Name("core"), _as("chainer")))
                self._imported = True
            else:
                names.append(alias.with_changes(name=_expression(port.place(path))))
        if not names:
            return cst.RemoveFromParent()
        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated.with_changes(names=names)

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        """Note what names mean before they are used; the paths themselves are no expressions."""
        path = _dotted(node.module)
        if path.partition(".")[0] == "chainer" and not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                name = _dotted(alias.asname.name) if alias.asname else _dotted(alias.name)
                self.bound[name] = f"{path}.{_dotted(alias.name)}"
        return False

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> Any:
        """Import from plugrad's modules, and tell what they lack."""
        path = _dotted(updated.module)
        root = path.partition(".")[0]
        if root in ("chainermn", "chainerx"):
            self._decide(original, _STRANGERS[root])
        if root != "chainer":
            return updated
        target = port.place(path)
        names: Any = updated.names
        if not isinstance(names, cst.ImportStar):
            kept = []
            for alias in names:
                name = _dotted(alias.name)
                if name == "FunctionSet":
                    name = "Chain"
                    alias = alias.with_changes(name=cst.Name(name))
                if not port.has(target, name):
                    self._decide(original, f"{path}.{name} is not in plugrad.")
                kept.append(alias)
            names = kept
        return updated.with_changes(module=_expression(target), names=names)

    # -- names ----------------------------------------------------------------------------------

    def _path(self, node: Any) -> str:
        """What an expression means in Chainer: 'chainer.functions.relu', or ''."""
        front, _, rest = _dotted(node).partition(".")
        if front not in self.bound:
            return ""
        return f"{self.bound[front]}.{rest}" if rest else self.bound[front]

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> Any:
        """Version 1's sets of functions are chains."""
        if self.bound.get(original.value) in (
            "chainer.FunctionSet",
            "chainer.function_set.FunctionSet",
        ):
            return cst.Name("Chain") if original.value == "FunctionSet" else updated
        return updated

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Note the front of a longer path: what it names is a package."""
        self._fronts.add(node.value)

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> Any:
        """Shorten paths to the module that gives a name, and find links beside functions."""
        path = self._path(original)
        if original.attr.value == "volatile" and not path:
            self._decide(original, port._DECIDE["volatile"])
        if not path:
            return updated
        module, _, name = path.rpartition(".")
        if path == "chainer.FunctionSet":
            return updated.with_changes(attr=cst.Name("Chain"))
        if path == "chainer.__version__":
            self._decide(original, "core.__version__ is plugrad's own version.")
        if module.startswith("chainer.functions") and not port.has("core.functions", name):
            if port.has("core.links", name):
                return self._ours(f"links.{name}")
            if name not in _FAMILIES:
                self._decide(original, f"{path} is not in plugrad.")
            return updated
        whole = original not in self._fronts
        if module == "chainer" and whole and not port.has("core", name):
            if port.has("core.distributions", name):
                return _expression(f"{_dotted(original.value)}.distributions.{name}")
            self._decide(original, f"{path} is not in plugrad.")
            return updated
        if module in _FLAT and whole:
            if not port.has(port.place(module), name):
                self._decide(original, f"{path} is not in plugrad.")
            return updated
        place = port.place(module)
        if place != module.replace("chainer", "core", 1) and _dotted(original).count(".") > 2:
            return _expression(place.replace("core", "chainer", 1) + f".{name}")
        return updated

    def visit_Assign(self, node: cst.Assign) -> None:
        """Note attributes that hold links: `self.bn = L.BatchNormalization(8)`."""
        if self._is_link(node.value):
            for target in node.targets:
                self.layers.add(_dotted(target.target).rpartition(".")[2])

    def visit_Arg(self, node: cst.Arg) -> None:
        """Note children by keyword: `super().__init__(bn=L.BatchNormalization(8))`."""
        if node.keyword is not None and self._is_link(node.value):
            self.layers.add(node.keyword.value)

    def _is_link(self, value: Any) -> bool:
        return isinstance(value, cst.Call) and self._path(value.func).startswith("chainer.links.")

    def leave_ExceptHandler(
        self, original: cst.ExceptHandler, updated: cst.ExceptHandler
    ) -> cst.ExceptHandler:
        """`except KeyError` around a serializer also catches what plugrad raises."""
        if self._serializes and _dotted(updated.type) == "KeyError":
            refused = cst.Element(self._ours("errors.CheckpointError"))
            return updated.with_changes(
                type=cst.Tuple([cst.Element(cst.Name("KeyError")), refused]),
                whitespace_after_except=cst.SimpleWhitespace(" "),
            )
        return updated

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        """Note whether a serializer is at hand."""
        self._serializes = any(p.name.value == "serializer" for p in node.params.params)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        """Tell of classes whose base class has other defaults here."""
        if any(self._path(base.value).endswith(_EVALUATOR) for base in node.bases):
            self._decide(node, f"class {node.name.value}: {port._MEANS}")

    # -- calls ----------------------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> Any:
        """Rewrite arguments that have another name, or none, and calls that have become others."""
        path = self._path(original.func)
        method = original.func.attr.value if isinstance(original.func, cst.Attribute) else ""
        if method == "collect_parameters" and not original.args:
            return updated.func.value  # type: ignore[attr-defined]
        if method == "zero_grads" and not original.args:
            owner = updated.func.value  # type: ignore[attr-defined]
            target = cst.Attribute(cst.Attribute(owner, cst.Name("target")), cst.Name("cleargrads"))
            return updated.with_changes(func=target)
        if method in port._METHODS and not path:
            self._decide(original, f"{method}: {port._METHODS[method]}")
        if method in self.layers and not path:
            for arg in original.args:
                keyword = arg.keyword.value if arg.keyword is not None else ""
                if keyword in ("train", "test"):
                    self._decide(original, f"{method}({keyword}=...): {port._DECIDE[keyword]}")
        if method == "extend":
            updated = self._extended(updated)
        return self._with_arguments(original, updated, path) if path else updated

    def _extended(self, call: cst.Call) -> cst.Call:
        """`extend(snapshot(trigger=t))` as `extend(snapshot(), trigger=t)`."""
        args = [
            a.with_changes(keyword=cst.Name("call_before_training"))
            if a.keyword is not None and a.keyword.value == "invoke_before_training"
            else a
            for a in call.args
        ]
        inner = args[0].value if args else None
        if isinstance(inner, cst.Call) and "snapshot" in _dotted(inner.func).rpartition(".")[2]:
            own = [a for a in inner.args if a.keyword is not None and a.keyword.value == "trigger"]
            if own and not any(a.keyword and a.keyword.value == "trigger" for a in args):
                rest = [a for a in inner.args if a is not own[0]]
                args[0] = args[0].with_changes(value=inner.with_changes(args=_joined(rest)))
                args.append(own[0])
        return call.with_changes(args=_joined(args))

    def _with_arguments(self, original: cst.Call, call: cst.Call, path: str) -> cst.Call:
        name = path.rpartition(".")[2]
        given = {a.keyword.value for a in call.args if a.keyword is not None}
        args = []
        for arg in call.args:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            if keyword in _DROPPED:
                continue
            if keyword == "volatile" and _is_off(arg.value):
                continue
            if keyword == "bias" and "nobias" not in given and port.has("core.links", name):
                arg = arg.with_changes(keyword=cst.Name("initial_bias"))
            elif keyword == "wscale" and "initialW" not in given:
                value = cst.Call(self._ours("initializers.LeCunNormal"), [_plain(arg.value)])
                arg = arg.with_changes(keyword=cst.Name("initialW"), value=value)
            elif keyword in port._DECIDE:
                self._decide(original, f"{name}({keyword}=...): {port._DECIDE[keyword]}")
            args.append(arg)
        if (
            path.startswith("chainer.datasets.")
            and "download" not in given
            and port.downloads(name)
        ):
            args = _appended(args, cst.Arg(cst.Name("True"), cst.Name("download"), _TIGHT))
        if path.endswith(_EVALUATOR) and "weigh_batches" not in given:
            args = _appended(args, cst.Arg(cst.Name("False"), cst.Name("weigh_batches"), _TIGHT))
        if len(args) == len(call.args) and all(
            a is b for a, b in zip(args, call.args, strict=True)
        ):
            return call
        return call.with_changes(args=_joined(args))


_FLAT = {f"chainer.{name}" for name in (
    "links", "optimizers", "optimizer", "initializers", "iterators", "datasets", "serializers",
    "function_hooks", "link_hooks", "distributions", "training.extensions", "training.triggers",
    "training.updaters")}  # fmt: skip
"""Packages whose names stand in them, not in modules below them."""
_EVALUATOR = ".training.extensions.Evaluator"
_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
_FAMILIES = ("activation", "array", "connection", "evaluation", "loss", "math", "noise",
             "normalization", "pooling", "rnn", "util")  # fmt: skip
_STRANGERS = {
    "chainermn": "chainermn: use core.communicators and what is built on them.",
    "chainerx": "chainerx: there is none; NumPy and CuPy compute the same.",
}


def _is_import(line: Any) -> bool:
    """Whether a statement of a module imports a part of plugrad."""
    small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    if isinstance(small, cst.ImportFrom):
        return _dotted(small.module).partition(".")[0] == "core"
    if isinstance(small, cst.Import):
        return any(_dotted(alias.name).partition(".")[0] == "core" for alias in small.names)
    return False


def _as(name: str) -> cst.AsName:
    return cst.AsName(cst.Name(name))


def _plain(value: Any) -> cst.Arg:
    return cst.Arg(value)


def _is_off(value: Any) -> bool:
    code = cst.Module([]).code_for_node(value)
    return code in ("False", "'off'", '"off"', "'auto'", '"auto"')


def _appended(args: list[Any], arg: Any) -> list[Any]:
    """Arguments and one more, on a line of its own where the others have theirs."""
    if len(args) > 1 and isinstance(args[-1].comma, cst.Comma):
        last = args[-1].with_changes(comma=args[-2].comma)
        return [*args[:-1], last, arg.with_changes(comma=args[-1].comma)]
    return [*args, arg]


def _joined(args: list[Any]) -> list[Any]:
    """Arguments with commas between them, and none after the last of a single line."""
    made = []
    for i, arg in enumerate(args):
        last = i == len(args) - 1
        if last:
            broken = isinstance(arg.comma, cst.Comma) and "\n" in cst.Module([]).code_for_node(arg)
            arg = arg if broken else arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        elif not isinstance(arg.comma, cst.Comma):
            arg = arg.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        made.append(arg)
    return made
