"""`plugrad new`: a plugin's distribution, complete and tested, to go on from.

The templates are Python that runs: in them the plugin is called `thing`, and `Thing` in names of
classes.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
import shutil
import subprocess
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from core import registry
from core.errors import CoreError
from core.registry.kinds import KINDS
from core.registry.loader import RESERVED
from core.show.report import Report

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
KINDS_OF_PLUGINS = [
    kind.removesuffix("s") for kind in KINDS if (TEMPLATES / "kinds" / f"{kind[:-1]}.py").exists()
]
NAMES = {
    "function": {"thing": "thing"},
    "serializer": {"save_thing": "save_thing", "load_thing": "load_thing"},
    "communicator": {"thing": "ThingCommunicator"},
    "backend": {"thing": "ThingBackend"},
    "bridge": {"as_thing": "as_thing"},
    "format": {"thing": "thing"},
}
"""What a template's module gives, by the name under which it is registered."""
NEEDED = {
    "backend": ["array-api-strict>=2.6"],
    "dataset": ["numpy>=2"],
    "distribution": ["scipy>=1.13"],
    "serializer": ["numpy>=2"],
}


class NewError(CoreError, ValueError):
    """No plugin can be written as asked."""


def new(name: str, kinds: Iterable[str], output: str | None) -> Report:
    """Write the distribution `plugrad-NAME`, with a module and tests for each kind.

    Args:
        name: Letters, digits and dashes, such as `swoosh` or `plugrad-swoosh`.
        kinds: Of `KINDS_OF_PLUGINS`; a function where there are none.
        output: The folder that it is written into; by default its own name, here.
    """
    kinds = list(dict.fromkeys(kinds)) or ["function"]
    words = _Words(name)
    words.refuse_taken(kinds)
    root = Path(output or words.distribution)
    if root.exists():
        raise NewError(f"expected {root} not to exist. Choose another --output.")
    made = {path: words.put(text) for path, text in _files(words, kinds).items()}
    try:
        for path, text in made.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(root, ignore_errors=True)
        raise NewError(f"cannot write {root}: {error}") from None
    text = "\n".join(
        [f"Written: {root}", *[f"  {path}" for path in made], "", "Next:"]
        + [f'  cd {root} && python -m pip install -e ".[test]" && plugrad check']
    )
    return Report({"root": str(root), "files": [str(path) for path in made]}, text)


class _Words:
    """A name in each of its forms."""

    def __init__(self, name: str) -> None:
        plain = name.lower().removeprefix("plugrad-")
        if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", plain):
            raise NewError(f"expected a name of letters, digits and dashes, got {name!r}.")
        self.snake = re.sub("[-_]", "_", plain)
        self.camel = "".join([part.capitalize() for part in self.snake.split("_")])
        for word in (self.snake, self.camel):
            if keyword.iskeyword(word) or keyword.issoftkeyword(word):
                raise NewError(f"{word!r} is a word of Python's own. Choose another name.")
        self.dashed = self.snake.replace("_", "-")
        self.distribution = f"plugrad-{self.dashed}"

    def put(self, text: str) -> str:
        """The text of a template with this name in it."""
        text = text.replace("plugrad-thing", self.distribution)
        text = re.sub("(?<![A-Za-z])Thing", self.camel, text)
        return re.sub("(?<![A-Za-z])thing", self.snake, text)  # "anything" stays a word

    def refuse_taken(self, kinds: Iterable[str]) -> None:
        """A name of a kind belongs to one plugin, and none is one that the templates use."""
        for kind in kinds:
            catalogue = registry.catalogue(f"{kind}s")
            used = _used(f"kinds/{kind}.py") | _used(f"tests/{kind}.py")
            for word in {self.snake, self.camel} & used - {"thing", "Thing"}:
                raise NewError(
                    f"{word!r} has a meaning in what is written for a "
                    f"{kind.replace('_', ' ')}. Choose another name."
                )
            for name in map(self.put, NAMES.get(kind, {"Thing": ""})):
                if name in RESERVED:
                    raise NewError(f"{name!r} is no name for plugins. Choose another name.")
                if name in catalogue.names():
                    whose = catalogue.claim(name).plugin
                    raise NewError(
                        f"{KINDS[f'{kind}s'].facade or 'core.backend'}.{name} is there "
                        f"already, from {whose}. Choose another name."
                    )


def _files(words: _Words, kinds: list[str]) -> dict[Path, str]:
    """Every file of the distribution, the name still to be put in."""
    package, tests = Path(f"plugrad_{words.snake}"), Path("tests")
    needed = ["plugrad>=0.1", *sorted({each for kind in kinds for each in NEEDED.get(kind, ())})]
    what = " and ".join([f"{_article(kind)} {kind.replace('_', ' ')}" for kind in kinds])
    project = _template("pyproject.txt").replace("DEPENDENCIES", json.dumps(needed))
    readme = _template("README.md").replace("ROWS", "\n".join(map(_row, kinds)))
    licence = _template("LICENSE").replace("YEAR", str(date.today().year))
    return {
        Path("pyproject.toml"): project.replace("WHAT", what),
        Path("README.md"): readme,
        Path("LICENSE"): licence.replace("AUTHOR", _author()),
        Path(".gitignore"): "__pycache__/\n*.egg-info/\n.venv/\nbuild/\ndist/\n.hypothesis/\n",
        Path(".github/workflows/test.yml"): _template("workflow.yml"),
        package / "__init__.py": _plugin(kinds),
        package / "py.typed": "",
        **{package / f"{kind}.py": _template(f"kinds/{kind}.py") for kind in kinds},
        **{tests / f"test_{kind}.py": _template(f"tests/{kind}.py") for kind in kinds},
    }


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _used(template: str) -> set[str]:
    """The names that a template gives something, or asks for."""
    nodes = list(ast.walk(ast.parse(_template(template))))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return {
        *[node.id for node in nodes if isinstance(node, ast.Name)],
        *[node.arg for node in nodes if isinstance(node, ast.arg)],
        *[(each.asname or each.name) for node in imports for each in node.names],
    }


def _article(kind: str) -> str:
    return "an" if kind[0] in "aeiou" and kind != "updater" else "a"


def _row(kind: str) -> str:
    module = KINDS[f"{kind}s"].facade
    names = [
        f"`{module}.{name}`" if module else f'`core.use("{name}")`'
        for name in NAMES.get(kind, {"Thing": ""})
    ]
    text = re.match(r'"""(.*)\.', _template(f"kinds/{kind}.py"))
    return f"| {', '.join(names)} | {text[1][0].lower() + text[1][1:] if text else kind} |"


def _plugin(kinds: list[str]) -> str:
    """The module of the entry point."""
    lines = [
        '"""A plugin for plugrad. Importing this module imports none of what it offers."""',
        "",
    ]
    lines += ["from core import hookimpl", "", "requires_plugin_api = 1"]
    for kind in kinds:
        given = NAMES.get(kind, {"Thing": "Thing"})
        entries = [f'"{name}": "plugrad_thing.{kind}:{what}"' for name, what in given.items()]
        lines += ["", "", "@hookimpl", f"def register_{kind}s() -> dict[str, str]:"]
        lines += ["    return {", *[f"        {entry}," for entry in entries], "    }"]
    return "\n".join([*lines, ""])


def _author() -> str:
    """Who git says that you are."""
    try:
        found = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True)
    except OSError:
        return "the authors"
    return found.stdout.strip() or "the authors"
