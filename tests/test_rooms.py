"""The rooms of the core: few, each with a sign on its door, and with things that are its own."""

import ast
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import grimp
import pytest

from core.registry.kinds import FACADES
from core.registry.paths import PATHS, place
from plugrad.commands.architecture import imports

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("core", "backends", "plugins", "plugrad")


def test_what_stands_on_the_first_level_is_seen_at_a_glance():
    files = (path.relative_to(ROOT / "core") for path in (ROOT / "core").rglob("*.py*"))
    # Folders of which a checkout has nothing but compiled files are left from before.
    entries = {path.parts[0] for path in files if "__pycache__" not in path.parts}
    facades = {facade.split(".")[1] for facade in FACADES.values()} - {"training"}
    assert facades < entries
    assert 12 < len({*entries, "py.typed"} - facades) <= 20


@cache
def _given(package: str) -> frozenset[str]:
    """What others may take from a package of the core."""
    room = importlib.import_module(package)
    return frozenset(vars(room).get("__all__") or dir(room))


def _is_package(name: str) -> bool:
    return (ROOT / name.replace(".", "/") / "__init__.py").exists()


def _imports(path: Path):
    """What a file takes from the core: line, package, and the name that it takes there."""
    for line, imported in imports(path):
        names = imported.split(".")
        if names[0] == "core":
            for i in range(2, len(names)):
                yield line, ".".join(names[:i]), names[i]


def _own(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _trespasses(path: Path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for line, package, name in _imports(path):
        if _own(module, package):
            continue
        private = name.startswith("_") and not name.endswith("__")
        if private or _is_package(package) and name not in _given(package):
            yield f"{path.relative_to(ROOT)}:{line}: {package}.{name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_nobody_takes_what_another_room_does_not_give(package):
    found = [each for path in (ROOT / package).rglob("*.py") for each in _trespasses(path)]
    assert not found, "\n".join(found)


def _packages():
    inits = sorted((ROOT / "core").rglob("__init__.py"))[1:]
    return [".".join(path.parent.relative_to(ROOT).parts) for path in inits]


@cache
def _graph():
    # Without a cache, which goes by the times of files: a checkout may bring back earlier ones.
    return grimp.build_graph("core", exclude_type_checking_imports=False, cache_dir=None)


@cache
def _graph_of_all():
    return grimp.build_graph(*PACKAGES, exclude_type_checking_imports=False, cache_dir=None)


@pytest.mark.parametrize("package", _packages())
def test_every_file_is_reached_from_the_door_of_its_room(package):
    """Through what the room gives, or names in its docstring, and what that imports."""
    room, graph = importlib.import_module(package), _graph()
    files = graph.find_descendants(package)
    names = _given(package) | set(re.findall(r"`(\w+)`", room.__doc__ or ""))
    homes = {getattr(getattr(room, name, None), "__module__", "") for name in names}
    reached = {package}
    found = reached | files & (homes | {f"{package}.{name}" for name in names})
    while found != reached:
        reached = found
        found = reached.union(*map(graph.find_modules_directly_imported_by, reached)) & (
            files | {package}
        )
    assert graph.find_children(package) <= reached


@pytest.mark.parametrize(
    "room",
    [
        *("core.arrays", "core.capturing", "core.compat", "core.dataset", "core.derivatives"),
        *("core.errors", "core.ops", "core.programs", "core.registry", "core.show"),
        *("core.testing", "core.tracing", "core.training"),
        *("backends", "plugins.communicators", "plugins.functions", "plugins.links", "plugrad"),
    ],
)
def test_the_files_of_a_room_form_no_circle(room):
    """Types and imports inside functions counted."""
    graph = _graph_of_all()
    files = graph.find_descendants(room)
    back = [
        (a, b)
        for a in files
        for b in graph.find_modules_directly_imported_by(a) & files
        if graph.chain_exists(importer=b, imported=a)
    ]
    assert not back


OF_LIBRARIES = {
    "registry/backends.py",  # the two backends with a part of their own, each named once
    "compat/cuda.py",  # Chainer's module of that name
    "compat/__init__.py",
    "compat/backends.py",
    "errors/names_of_others.py",  # what other libraries call things
    "errors/names_on_objects.py",
    "show/info.py",  # their versions
}


def test_the_core_names_no_backend():
    named = {
        f"{path.relative_to(ROOT / 'core')}"
        for path in (ROOT / "core").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in ("numpy", "cuda", "cupy")
    }
    assert {name for name in named if not name.startswith("testing/")} <= OF_LIBRARIES


LATE = [
    ".".join(path.relative_to(ROOT).parent.parts)
    for path in sorted((ROOT / "core").rglob("__init__.py"))
    if "exporting(" in path.read_text(encoding="utf-8")
]
"""Rooms some of whose names are loaded when first asked for."""


def _seen_by_checkers(package: str) -> set[str]:
    """What a room makes, has as files, or imports as `X as X`, if for checkers alone."""
    path = ROOT / package.replace(".", "/") / "__init__.py"
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    made = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    given = {alias.asname for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names}
    return made | given | {each.stem for each in path.parent.iterdir()}


@pytest.mark.parametrize("package", LATE)
def test_names_that_load_late_are_known_to_checkers(package):
    room = importlib.import_module(package)
    shown = {name for name in dir(room) if not name.startswith("__")}
    assert shown <= _seen_by_checkers(package)
    assert all(hasattr(room, name) for name in shown)


@pytest.mark.parametrize("package", LATE)
def test_names_that_checkers_know_are_there(package):
    text = (ROOT / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    blocks = [n for n in ast.parse(text).body if isinstance(n, ast.If)]
    imports = [n for block in blocks for n in block.body if isinstance(n, ast.ImportFrom)]
    assert {a.asname for n in imports for a in n.names} <= {*dir(importlib.import_module(package))}


@pytest.mark.parametrize("package", _packages())
def test_what_a_room_gives_is_there(package):
    room, files = importlib.import_module(package), _graph().find_children(package)
    names = [name for name in _given(package) if f"{package}.{name}" not in files]
    assert all(hasattr(room, name) for name in names)


def test_every_room_says_what_it_is_for():
    rooms = [p.parent.name for p in (ROOT / "core").glob("*/__init__.py")]
    assert not [name for name in rooms if not importlib.import_module(f"core.{name}").__doc__]


@pytest.mark.parametrize("old", sorted(set(PATHS) - {"core.__main__"}))
def test_an_old_path_is_the_module_itself(old):
    module = importlib.import_module(old)
    assert module is importlib.import_module(PATHS[old])
    assert module.__name__ == module.__spec__.name == PATHS[old]


def test_what_stands_below_an_old_path_is_found_once():
    from core.utils.conv import get_conv_outsize

    assert sys.modules["core.utils.conv"] is sys.modules["core.compat.utils.conv"]
    assert get_conv_outsize(4, 2, 1, 0) == 3
    assert place("core.utils.no_such.module") == "core.compat.utils.no_such.module"
    with pytest.raises(ModuleNotFoundError, match=r"core\.utils\.no_such"):
        importlib.import_module("core.utils.no_such")


def test_an_old_path_is_found_in_any_order():
    """Also where the new one was not imported before, and by `from` and attribute."""
    program = (
        "import core.variable, core\n"
        "from core.links.model.vision.resnet import ResNet50Layers\n"
        "from core.backends import cuda\n"
        "import core.backends.cuda as same\n"
        "assert cuda is same is core.cuda\n"
        "assert core.variable.Parameter is core.Parameter\n"
        "from core import reporter, gradient_check\n"
        "assert reporter is core.training.reporter and core.report is reporter.report\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd="/")
