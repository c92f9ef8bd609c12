"""The rewriting itself, on LibCST's trees; see `plugrad.commands.port`."""

from __future__ import annotations

import ast
import operator
import re
from typing import Any

import libcst as cst
from libcst import matchers
from libcst.metadata import (
    PositionProvider,
    QualifiedNameProvider,
    QualifiedNameSource,
    ScopeProvider,
)

from plugrad.commands import port_names

_DROPPED = {"use_cudnn", "deterministic"}
_expression: Any = cst.parse_expression


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


class _Port(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider, QualifiedNameProvider, ScopeProvider)

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[int, str]] = []
        self._fronts: set[Any] = set()
        self._known: set[Any] = set()  # what is called, or derived from
        self._methods: set[str] = set()  # the program's own
        self._arguments: set[str] = set()  # likewise
        self._given: dict[Any, str] = {}  # names that a program gives to what is Chainer's
        self.layers: set[str] = set()  # names of attributes that hold Chainer's links
        self._depth = 0  # of blocks
        self._serializes: list[bool] = []  # of the functions around
        self._imported = self._needed = self._commented = False

    def _decide(self, node: Any, what: str) -> None:
        self.open.append((self.get_metadata(PositionProvider, node).start.line, what))

    def _ours(self, node: Any, path: str) -> Any:
        """A name of plugrad's in the program, which imports it for that if it has to.

        None where `chainer` is something else, which a person is told of.
        """
        scope: Any = self.get_metadata(ScopeProvider, node)
        names = scope.get_qualified_names_for("chainer")
        if any([n.source is not _IMPORT or n.name not in ("chainer", "core") for n in names]):
            self._decide(node, f"chainer is something else here: write core.{path} under its name.")
            return None
        self._needed = self._needed or not names
        return _expression(f"chainer.{path}")

    def visit_Module(self, node: cst.Module) -> None:
        """Note which methods the program has itself."""
        found: Any = matchers.findall(node, matchers.FunctionDef())
        self._methods = {each.name.value for each in found}
        taken: Any = matchers.findall(node, matchers.Param())
        self._arguments = {each.name.value for each in taken}

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        """Count blocks, which may not be run."""
        self._depth += 1

    def leave_IndentedBlock(
        self, original: cst.IndentedBlock, updated: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        """Count blocks."""
        self._depth -= 1
        return updated

    # blocks on the line of their heads
    visit_SimpleStatementSuite: Any = visit_IndentedBlock
    leave_SimpleStatementSuite: Any = leave_IndentedBlock

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        """Note whether a comment would be lost with the line."""
        around = *node.leading_lines, node.trailing_whitespace
        self._commented = any(["#" in _code(each) for each in around])

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
        """Paths are no expressions."""
        return False

    def leave_Import(self, original: cst.Import, updated: cst.Import) -> Any:
        """Name plugrad's modules; `chainer` itself stays a name, of `core`."""
        names = []
        imported = self._imported and not self._commented
        for alias in updated.names:
            path = _dotted(alias.name)
            root = path.partition(".")[0]
            if root in ("chainermn", "chainerx"):
                self._decide(original, _STRANGERS[root])
            if root != "chainer":
                names.append(alias)
            elif alias.asname is None:
                if not imported:
                    names.append(cst.ImportAlias(cst.Name("core"), _as("chainer")))
                imported = True
                self._imported = self._imported or not self._depth
            else:
                names.append(alias.with_changes(name=_expression(port_names.place(path))))
        if not names:
            return cst.RemoveFromParent()
        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated.with_changes(names=names)

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        """Paths are no expressions."""
        return False

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> Any:
        """Import from plugrad's modules, and tell what they lack."""
        path = _dotted(updated.module)
        root = path.partition(".")[0]
        if root in ("chainermn", "chainerx"):
            self._decide(original, _STRANGERS[root])
        if root != "chainer":
            return updated
        target = port_names.place(path)
        names: Any = updated.names
        modules: list[Any] = []  # whose names stand in a module above them here
        if isinstance(names, cst.ImportStar):
            self._decide(original, f"from {path} import *: import by name what is used.")
        else:
            kept = []
            for alias in names:
                name = _dotted(alias.name)
                if name == "FunctionSet":
                    name = "Chain"
                    alias = alias.with_changes(name=cst.Name(name))
                if port_names.is_collapsed(f"{path}.{name}"):
                    modules.append(alias)
                    continue
                if not port_names.has(target, name):
                    self._decide(original, f"{path}.{name} is not in plugrad.")
                kept.append(alias)
            names = kept
        lines = []
        if names:
            lines.append(updated.with_changes(module=_expression(target), names=_ended(names)))
        for alias in modules:
            home, _, facade = port_names.place(f"{path}.{_dotted(alias.name)}").rpartition(".")
            as_it_was = alias.asname or cst.AsName(alias.name)
            named = cst.ImportAlias(cst.Name(facade), as_it_was)
            lines.append(updated.with_changes(module=_expression(home), names=[named]))
        return lines[0] if len(lines) == 1 else cst.FlattenSentinel(lines)

    # -- names ----------------------------------------------------------------------------------

    def _path(self, node: Any) -> str:
        """What an expression means in Chainer: 'chainer.functions.relu', or ''."""
        if not _dotted(node):
            return ""
        found = self.get_metadata(QualifiedNameProvider, node, set())
        paths = [n.name for n in found if n.source is _IMPORT and _is_chainers(n.name)]
        if paths and len(found) > 1 and node not in self._fronts:
            self._decide(node, f"{_dotted(node)} is not always {paths[0]}: rewrite it by hand.")
        return paths[0] if paths and len(found) == 1 else ""

    def _look(self, node: Any, path: str) -> None:
        """Tell of evaluators that are made elsewhere."""
        if _is_evaluator(path) and node not in self._known:
            self._decide(node, f"{_dotted(node)}: {port_names.MEANS}")

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> Any:
        """Version 1's sets of functions are chains."""
        path = self._path(original)
        self._look(original, path)
        if path and original not in self._fronts and port_names.is_collapsed(path):
            self._decide(original, f"{original.value} is the module {path} of Chainer, not here.")
        if path in ("chainer.FunctionSet", "chainer.function_set.FunctionSet"):
            return cst.Name("Chain") if original.value == "FunctionSet" else updated
        return updated

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Note the front of a longer path: what it names is a package."""
        self._fronts.add(node.value)

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> Any:
        """Shorten paths to the module that gives a name, and find links beside functions."""
        path = self._path(original)
        if not path:
            if original.attr.value == "volatile":
                self._decide(original, port_names.DECIDE["volatile"])
            return updated
        self._look(original, path)
        whole = original not in self._fronts
        if path == "chainer.FunctionSet":
            return updated.with_changes(attr=cst.Name("Chain"))
        if path == "chainer.__version__":
            self._decide(original, "core.__version__ is plugrad's own version.")
        if whole and port_names.is_distribution(path):
            return _expression(f"{_dotted(original.value)}.distributions.{original.attr.value}")
        here = port_names.whereabouts(path, whole, _dotted(original).count(".") > 1)
        if here is None:
            self._decide(original, f"{path} is not in plugrad.")
        return self._shortened(original, updated, here) if here else updated

    def _shortened(self, original: cst.Attribute, updated: cst.Attribute, path: str) -> Any:
        if "#" in _code(original):
            self._decide(original, f"Write chainer.{path}, and find a place for the comment.")
            return updated
        return self._ours(original, path) or updated

    def visit_Assign(self, node: cst.Assign) -> None:
        """Note attributes that hold links, `self.bn = L.BatchNormalization(8)`, and new names."""
        path = self._path(node.value)
        if path:
            self._given.update({each.target: path for each in node.targets})
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
        if any(self._serializes[-1:]) and _dotted(updated.type) == "KeyError":
            refused = self._ours(original, "errors.CheckpointError")
            if refused is not None:
                return updated.with_changes(
                    type=cst.Tuple([cst.Element(cst.Name("KeyError")), cst.Element(refused)]),
                    whitespace_after_except=cst.SimpleWhitespace(" "),
                )
        return updated

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        """Note whether a serializer is at hand."""
        self._serializes.append(any(p.name.value == "serializer" for p in node.params.params))

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Forget the serializer."""
        self._serializes.pop()
        return updated

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        """Tell of classes whose base class has other defaults here."""
        self._known.update([base.value for base in node.bases])
        if any(_is_evaluator(self._path(base.value)) for base in node.bases):
            self._decide(node, f"class {node.name.value}: {port_names.MEANS}")

    # -- calls ----------------------------------------------------------------------------------

    def visit_Call(self, node: cst.Call) -> None:
        """Note what is called."""
        self._known.add(node.func)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> Any:
        """Rewrite arguments that have another name, or none, and calls that have become others."""
        path = self._path(original.func) or self._renamed(original.func)
        if not path:
            self._look_at_arguments(original)
        self._look_at_names(original)
        method = original.func.attr.value if isinstance(original.func, cst.Attribute) else ""
        own = method in self._methods and method in ("collect_parameters", "zero_grads")
        if own:
            self._decide(original, f"{method}: taken for the program's own, and left.")
        elif method == "collect_parameters" and not original.args:
            return updated.func.value  # type: ignore[attr-defined]
        elif method == "zero_grads" and not original.args:
            owner = updated.func.value  # type: ignore[attr-defined]
            target = cst.Attribute(cst.Attribute(owner, cst.Name("target")), cst.Name("cleargrads"))
            return updated.with_changes(func=target)
        if method in port_names.METHODS and not path:
            self._decide(original, f"{method}: {port_names.METHODS[method]}")
        if method in self.layers and not path:
            for arg in original.args:
                if (keyword := _keyword(arg)) in ("train", "test"):
                    self._decide(original, f"{method}({keyword}=...): {port_names.DECIDE[keyword]}")
        if method == "extend":
            updated = self._extended(original, updated)
        return self._with_arguments(original, updated, path) if path else updated

    def _renamed(self, node: Any) -> str:
        """What a name means that is given once, to something of Chainer's: `relu = F.relu`."""
        scope: Any = self.get_metadata(ScopeProvider, node, None)
        found = list(scope[node.value]) if scope and isinstance(node, cst.Name) else []
        one = getattr(found[0], "node", None) if len(found) == 1 else None
        return self._given.get(one, "")

    def _look_at_arguments(self, call: cst.Call) -> None:
        """Tell of arguments of version 1 where it is not known what is called."""
        handed_on = [a for a in call.args if a.keyword is None and self._path(a.value)]
        words = _CHAINERS | ({"train", "test"} if handed_on else set())
        named = self.get_metadata(QualifiedNameProvider, call.func, set())
        for arg in [] if any(_is_chainers(n.name) for n in named) else call.args:
            keyword = _keyword(arg)
            if keyword in words and (handed_on or keyword not in self._arguments):
                cure = port_names.DECIDE.get(keyword, "Leave it out.")
                self._decide(call, f"{_code(call.func)}({keyword}=...), if it is Chainer's: {cure}")

    def _look_at_names(self, call: cst.Call) -> None:
        """Tell of what is looked up by a name that is made when the program runs."""
        called = _dotted(call.func)
        values = [arg.value for arg in call.args]
        texts = [
            str(ast.literal_eval(v.value)) if isinstance(v, cst.SimpleString) else ""
            for v in values
        ]
        if called in ("getattr", "hasattr") and len(values) > 1 and self._path(values[0]):
            module = self._path(values[0])
            if not texts[1]:
                self._decide(call, f"{called}({module}, ...): plugrad's names are looked up here.")
            elif not port_names.has(port_names.place(module), texts[1]):
                self._decide(call, f"{module}.{texts[1]} is not in plugrad.")
        elif texts[:1] == ["chainer"] and "import" in called:  # longer paths are found as texts
            self._decide(call, f"{called}('chainer'): import core.")

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        """Tell of texts that are paths of Chainer's, as `mock.patch` takes them."""
        text = node.raw_value
        if re.fullmatch(r"chainer(\.\w+)+", text):
            self._decide(
                node, f"{text!r} is a path of Chainer's; here it is in {port_names.place(text)}."
            )

    def _extended(self, original: cst.Call, call: cst.Call) -> cst.Call:
        """`extend(snapshot(trigger=t))` as `extend(snapshot(), trigger=t)`."""
        args = [
            a.with_changes(keyword=cst.Name("call_before_training"))
            if _keyword(a) == "invoke_before_training"
            else a
            for a in call.args
        ]
        inner: Any = args[0].value if args else None
        given: Any = original.args[0].value if args else None
        if isinstance(given, cst.Call) and "snapshot" in self._path(given.func).rpartition(".")[2]:
            own = [a for a in inner.args if _keyword(a) == "trigger"]
            if own and not any(_keyword(a) == "trigger" for a in args):
                rest = [a for a in inner.args if a is not own[0]]
                args[0] = args[0].with_changes(value=inner.with_changes(args=_joined(rest)))
                args.append(own[0])
        return _with(call, args)

    def _with_arguments(self, original: cst.Call, call: cst.Call, path: str) -> cst.Call:
        name = path.rpartition(".")[2]
        given = {_keyword(arg) for arg in call.args}
        ported = [self._argument(original, arg, name, given) for arg in call.args]
        args = [arg for arg in ported if arg is not None]
        downloads = path.startswith("chainer.datasets.") and port_names.downloads(name)
        for keyword, value, other in (
            ("download", "True", downloads),
            ("weigh_batches", "False", _is_evaluator(path)),
        ):
            if other and keyword not in given:  # which has another default here
                args = _appended(args, cst.Arg(cst.Name(value), cst.Name(keyword), _TIGHT))
        return _with(call, args)

    def _argument(self, original: cst.Call, arg: cst.Arg, name: str, given: set[str]) -> Any:
        """An argument as it is called here; None for one that is left out."""
        keyword = _keyword(arg)
        if keyword in _DROPPED or (keyword == "volatile" and _is_off(arg.value)):
            if "#" not in _code(arg):
                return None
            self._decide(original, f"{name}({keyword}=...): leave it out, with its comment.")
        if keyword == "bias" and "nobias" not in given and port_names.has("core.links", name):
            return arg.with_changes(keyword=cst.Name("initial_bias"))
        if keyword == "wscale" and "initialW" not in given:
            scaled = self._ours(original, "initializers.LeCunNormal")
            if scaled is None:
                return arg
            value = cst.Call(scaled, [cst.Arg(arg.value)])
            return arg.with_changes(keyword=cst.Name("initialW"), value=value)
        if keyword in port_names.DECIDE:
            self._decide(original, f"{name}({keyword}=...): {port_names.DECIDE[keyword]}")
        return arg


_IMPORT = QualifiedNameSource.IMPORT
_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
_CHAINERS = {"use_cudnn", "volatile", "wscale"}  # words that hardly any other program has
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


def _ended(names: Any) -> Any:
    """Imported names without a comma after the last."""
    if isinstance(names, cst.ImportStar):
        return names
    return [*names[:-1], names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)]


def _as(name: str) -> cst.AsName:
    return cst.AsName(cst.Name(name))


def _keyword(arg: cst.Arg) -> str:
    return arg.keyword.value if arg.keyword is not None else ""


def _is_chainers(path: str) -> bool:
    return path.partition(".")[0] == "chainer"


def _is_evaluator(path: str) -> bool:
    return path.startswith("chainer.training.extensions.") and path.endswith(".Evaluator")


def _code(node: Any) -> str:
    return cst.Module([]).code_for_node(node)


def _is_off(value: Any) -> bool:
    return _code(value) in ("False", "'off'", '"off"', "'auto'", '"auto"')


def _appended(args: list[Any], arg: Any) -> list[Any]:
    """Arguments and one more, on a line of its own where the others have theirs."""
    if len(args) > 1 and isinstance(args[-1].comma, cst.Comma):
        last = args[-1].with_changes(comma=args[-2].comma)
        return [*args[:-1], last, arg.with_changes(comma=args[-1].comma)]
    return [*args, arg]


def _with(call: cst.Call, args: list[Any]) -> cst.Call:
    """A call of other arguments; the same call where these are its own."""
    same = len(args) == len(call.args) and all(map(operator.is_, args, call.args))
    return call if same else call.with_changes(args=_joined(args))


def _joined(args: list[Any]) -> list[Any]:
    """Arguments with commas between them, and none after the last of a single line."""
    made = []
    for i, arg in enumerate(args):
        last = i == len(args) - 1
        if last:
            broken = isinstance(arg.comma, cst.Comma) and "\n" in _code(arg)
            arg = arg if broken else arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)
        elif not isinstance(arg.comma, cst.Comma):
            arg = arg.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        made.append(arg)
    return made
