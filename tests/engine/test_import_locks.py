"""Threads that import together: nobody waits for a package while holding what the package needs.

An import locks the module that it names, and only then imports the packages around it. Where a
package imports a part of its own, a thread that asks for the part first, by its full name, holds
the part and waits for the package, which waits for the part: Python raises _DeadlockError.
"""

import ast
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ALONE = "plugrad.commands."  # a program's first steps, before it has threads


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {
    name_of(path): path
    for room in ("core", "plugins", "backends")
    for path in (ROOT / room).rglob("*.py")
}


@cache
def tree(name):
    return ast.parse(PATHS[name].read_text(encoding="utf-8"))


def at_once(node):
    """The statements that run when the module is imported."""
    for child in ast.iter_child_nodes(node):
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not inside and not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child)):
            yield child
            yield from at_once(child)


def named(nodes):
    """What is imported, in order: of `from package import part` the package comes first."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            parts = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (part for part in parts if part in PATHS)


def parts_taken(package):
    """The parts of a package that it imports itself, or that those import."""
    taken, pending = set(), [package]
    while pending:
        for name in named(at_once(tree(pending.pop()))):
            if name.startswith(f"{package}.") and name in PATHS and name not in taken:
                taken.add(name)
                pending.append(name)
    return taken


def test_parts_of_packages_are_imported_after_the_package():
    command = [sys.executable, "-c", "import core, sys; print(*sys.modules)"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    packages = [n for n, path in PATHS.items() if path.name == "__init__.py" and n not in loaded]
    owner = {part: package for package in packages for part in parts_taken(package)}
    assert owner["core.compat.utils.conv"] == "core.compat.utils"
    wrong = []
    for module in PATHS:
        seen = []
        for name in named(ast.walk(tree(module))):
            package = owner.get(name, module)
            inside = f"{module}.".startswith((f"{package}.", ALONE))
            if not inside and package not in seen:
                wrong.append(f"{module} imports {name} before {package}")
            seen.append(name)
    assert not wrong


def test_a_part_and_its_package_are_looked_up_together(tmp_path):
    """While one thread has found the package, another asks for the part that it imports."""
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.py").write_text("from house.part import thing\n")
    (tmp_path / "house" / "part.py").write_text("thing = 1\n")
    program = """
        import sys, threading, time
        from concurrent.futures import ThreadPoolExecutor
        from importlib.machinery import PathFinder, SourceFileLoader
        from core.registry.lazy import resolve

        found = threading.Event()

        class Slow(SourceFileLoader):
            def create_module(self, spec):
                found.set()
                time.sleep(0.3)

        class Finder:
            def find_spec(self, name, path, target=None):
                spec = PathFinder.find_spec(name, path)
                if name == "house":
                    spec.loader = Slow(name, spec.origin)
                return spec

        sys.meta_path.insert(0, Finder())
        with ThreadPoolExecutor() as pool:
            whole = pool.submit(resolve, "house:thing")
            found.wait()
            part = pool.submit(resolve, "house.part:thing")
            print(whole.result(), part.result())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "1 1\n", done.stderr
