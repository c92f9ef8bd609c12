"""`plugrad stubs`: the facades, and what they offer for type checkers, which run no plugins.

The bundled stubs stand beside the facades and know plugrad's own names. With `--output`, stubs for
everything that this environment has are written to a folder of their own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core import registry
from core.errors import PluginError
from core.registry.kinds import FACADES, KINDS
from core.registry.records import Claim
from core.show.report import Report
from plugrad.commands.derived import SHARED, derived, uses
from plugrad.commands.made_files import made

ROOT = Path(__file__).resolve().parents[2]
_SPECIAL = ("Any", "Literal", "overload")
PACKAGES = sorted({path.rpartition(".")[0] for path in FACADES.values()})
_FACADE = '''"""{}, from every installed plugin."""

# Written by `plugrad stubs` from the table in core/registry/kinds.py, not by hand.
from core.registry import facade

__getattr__, __dir__, of = facade(__name__)
'''


def stubs(output: str | None, check: bool) -> Report:
    """Write the stubs, or with `check` say which are not as they would be written."""
    files = everything() if output else bundled()
    root = Path(output) if output else ROOT
    command = "plugrad stubs" + (f" --output {output}" if output else "")
    return made(root, files, "stubs", command, check)


def bundled() -> dict[str, str]:
    """File -> text of the facades and of stubs for plugrad's own names, whatever is installed."""
    files = {_source(package): _with_facades(package) for package in PACKAGES}
    claims = registry.installed.snapshot().claims
    for kind, facade in FACADES.items():
        held = [claim for each in claims[kind].values() for claim in each if claim.plugin.bundled]
        files[_source(facade)] = _FACADE.format(KINDS[kind].meaning)
        files[_source(facade) + "i"] = _stub(facade, held)
    return files


def _with_facades(package: str) -> str:
    """A package that imports, for checkers alone, the facades among its modules."""
    line = f"    from {package} import {{0}} as {{0}}\n"
    facades = [path.rpartition(".") for path in FACADES.values()]
    lines = {line.format(name) for parent, _, name in facades if parent == package}
    block = re.compile(rf"(    from {re.escape(package)} import (\w+) as \2\n)+")
    text = (ROOT / _source(package)).read_text(encoding="utf-8")
    if not block.search(text):
        raise PluginError(
            f"{_source(package)} imports none of its modules under `if TYPE_CHECKING:`; expected a "
            "package of facades, made by core.registry.public.exporting."
        )
    return block.sub(lambda old: "".join(sorted({*old[0].splitlines(True), *lines})), text, 1)


def everything() -> dict[str, str]:
    """File -> text of the stubs for all that is installed here.

    The packages around the facades come along: a checker that finds `core` in this folder looks
    there for what `core` itself exports.
    """
    files = {_source(package) + "i": _package(package) for package in PACKAGES}
    for kind, facade in FACADES.items():
        catalogue = registry.catalogue(kind)
        held = [catalogue.claim(name) for name in catalogue.names()]
        files[_source(facade) + "i"] = _stub(facade, held, catalogue.conflicts())
    return files


def _package(package: str) -> str:
    """A package as a stub, whose modules are found also where the stub's folder lacks them."""
    text = (ROOT / _source(package)).read_text(encoding="utf-8")
    room = re.compile(r"^    from core import (\w+) as \1$", re.MULTILINE)
    rooms = room.findall(text)
    exported = f"\n__all__ = {rooms!r}\n" if rooms else ""
    return room.sub(r"    import core.\1 as \1", text) + exported


def _source(module: str) -> str:
    """The file of a facade or a package: on the core's first level everything is a folder."""
    path = module.replace(".", "/")
    return path + ("/__init__.py" if module in PACKAGES or path.count("/") == 1 else ".py")


def _stub(facade: str, claims: Iterable[Claim], conflicts: Iterable[str] = ()) -> str:
    # Without "as" a stub's import is for the stub alone.
    imports, texts = [("core.registry", "Offer", "")], []
    for claim in claims:
        module, attribute = _where(claim)
        text = _derived(claim)
        if text.startswith("class "):
            imports.append((module, attribute, f"_{claim.name}"))
        elif not text and attribute.isidentifier():
            imports.append((module, attribute, claim.name))
        if text or not attribute.isidentifier():
            texts.append(text or f"{claim.name}: Any")
    body = "\n".join(texts)
    imports += [("core", "Variable", "")] * uses(body, "Variable")
    shared = [name for name in SHARED if uses(body, name)]
    imports += [("core.typing", ", ".join(shared), "")] * bool(shared)
    lines = [f'"""What `{facade}` offers; written by `plugrad stubs`, not by hand."""', ""]
    special = [name for name in _SPECIAL if uses(body, name)]
    lines += [f"from typing import {', '.join(special)}", ""] if special else []
    lines += [_import(*place) for place in sorted(imports, key=_isort)]
    lines += [f"# {name}: claimed by several distributions; prefer one." for name in conflicts]
    gaps = [text + "\n" * text.endswith('"""') for text in texts]
    lines += ["", *gaps, "def of(distribution: str) -> Offer: ..."]
    return "\n".join(lines) + "\n"


def _derived(claim: Claim) -> str:
    try:
        return derived(claim.name, claim.resolve())
    except PluginError:  # what cannot be imported is shown by its place alone
        return ""


def _isort(place: tuple[str, str, str]) -> tuple[Any, ...]:
    module, attribute, name = place
    # As import sorters have it: within a module constants, then classes, then the rest.
    constant = attribute.isupper() and len(attribute) > 1
    rank = 0 if constant else 1 if attribute[:1].isupper() else 2
    return module, rank, _natural(attribute.lower()), attribute, name


def _natural(text: str) -> list[str | int]:
    # log2 before log10.
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def _import(module: str, attribute: str, name: str) -> str:
    line = f"from {module} import {attribute}" + (f" as {name}" if name else "")
    # Checkers refuse to read packages without the mark, in a stub that nobody can mend.
    end = "" if _is_marked(module) else "  # type: ignore[import-untyped]"
    if len(line + end) <= 100:
        return line + end
    return f"from {module} import ({end}\n    {attribute} as {name},\n)"


def _is_marked(module: str) -> bool:
    """Whether a package around the module has `py.typed`; what is not found needs no mark."""
    parts = module.split(".")
    try:
        found = [find_spec(".".join(parts[:i])) for i in range(1, len(parts) + 1)]
    except ImportError:
        return True
    folders = [folder for spec in found if spec for folder in spec.submodule_search_locations or ()]
    marked = any(Path(folder, "py.typed").exists() for folder in folders)
    return marked or None in found or parts[0] in sys.stdlib_module_names


def _where(claim: Claim) -> tuple[str, str]:
    if claim.target is not None:
        module, _, attribute = claim.target.partition(":")
        return module, attribute
    value = claim.resolve()
    module, attribute = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
    importable = getattr(sys.modules.get(module or ""), attribute or "", None) is value
    return (module, attribute) if importable else ("", "")
