"""One name for one thing: words that the field has a better term for name nothing any more."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTEAD = {
    "admit": "what it does",
    "barren": "nondifferentiable",
    "carrying": "recurrent state",
    "circumstances": "environment",
    "crew": "workers",
    "exchange": "ipc",
    "face": "facade, or module",
    "foreign": "of others",
    "former": "removed",
    "settle": "what it does",
    "settled": "what it does",
    "twin": "what it does",
    "unhurried": "slow path",
    "wanted": "needs_grad",
    "wants": "needs_grad",
    "wish": "needs_grad",
}
NAMED = re.compile(r"^\s*(?:async )?(?:def|class) (\w+)", re.M)
ASSIGNED = re.compile(r"^\s*(?:self\.)?(\w+)(?:: [^=\n]+)? = ", re.M)


def words(name):
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def test_functions_and_classes_are_named_in_the_fields_terms():
    assert words("_FirstCall_of") == ["first", "call", "of"]
    found = [
        f"{path.relative_to(ROOT)}: {name}: {INSTEAD[word]}"
        for package in ("core", "plugins", "backends", "plugrad")
        for path in (ROOT / package).rglob("*.py")
        for name in [path.stem, *NAMED.findall(path.read_text(encoding="utf-8"))]
        for word in words(name)
        if word in INSTEAD
    ]
    assert not found, "\n".join(found)


def test_so_are_variables_and_attributes():
    """But for what is wanted, which is a plain word for what somebody asks for."""
    found = [
        f"{path.relative_to(ROOT)}: {name}: {INSTEAD[word]}"
        for package in ("core", "plugins", "backends", "plugrad", "examples", "tests")
        for path in (ROOT / package).rglob("*.py")
        for name in ASSIGNED.findall(path.read_text(encoding="utf-8"))
        for word in words(name)
        if word in INSTEAD and word != "wanted"
    ]
    assert not found, "\n".join(found)
