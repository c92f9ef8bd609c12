"""What a user decides about plugins: which to prefer, which to leave out, how strict to be.

Three sources, the nearer one first: the program (`core.plugins`), the environment, and the section
`[tool.plugrad]` of `pyproject.toml` in the working directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import PluginError, nearest
from core.registry.kinds import HOOKS
from core.registry.records import canonical

PREFER = "PLUGRAD_PREFER"
DISABLE = "PLUGRAD_DISABLE_PLUGINS"
STRICT = "PLUGRAD_PLUGINS_STRICT"
SECTION = "[tool.plugrad]"
_KEYS = ("prefer", "disable", "strict")
_FORM = 'prefer = {"KIND.NAME" = "DISTRIBUTION"} and disable = ["DISTRIBUTION"]'
_PREFERABLE = [kind.name for kind in HOOKS.values()]


class Settings:
    """Preferences (`'functions.mish'`, `'functions.*'` or `'*'` -> distribution) and switches."""

    def __init__(self) -> None:
        self.preferences: dict[str, tuple[str, str]] = {}
        self.disabled: dict[str, str] = {}
        self.strict = False

    def prefer(self, key: str, distribution: str, source: str) -> None:
        """Note a preference; a nearer source is noted later and wins."""
        self.preferences[_checked(key, source)] = (canonical(distribution), source)

    def disable(self, distribution: str, source: str) -> None:
        """Leave a distribution out; '*' stands for every third party."""
        self.disabled[distribution if distribution == "*" else canonical(distribution)] = source

    def preferred(self, kind: str, name: str) -> tuple[str, str, bool] | None:
        """The distribution preferred for a name, where that was said, and whether by full name."""
        for key in (f"{kind}.{name}", f"{kind}.*", "*"):
            if key in self.preferences:
                return (*self.preferences[key], "*" not in key)
        return None

    def disables(self, distribution: str, bundled: bool) -> bool:
        """Whether a distribution is to be left out."""
        return canonical(distribution) in self.disabled or ("*" in self.disabled and not bundled)


def read(environ: Mapping[str, str] | None = None, directory: Path | None = None) -> Settings:
    """The settings of the working directory's `pyproject.toml`, then of the environment."""
    environ = os.environ if environ is None else environ
    settings = Settings()
    _read_project(settings, (directory or Path()) / "pyproject.toml")
    for item in _items(environ.get(PREFER, "")):
        key, _, distribution = (part.strip() for part in item.partition("="))
        if not key or not distribution:
            raise PluginError(f"{PREFER}: expected KIND.NAME=DISTRIBUTION,... but got {item!r}.")
        settings.prefer(key, distribution, PREFER)
    for item in _items(environ.get(DISABLE, "")):
        settings.disable(item, DISABLE)
    if STRICT in environ:
        settings.strict = environ[STRICT].lower() not in ("", "0", "false", "no", "off")
    return settings


def _items(text: str) -> Iterator[str]:
    return (item.strip() for item in text.split(",") if item.strip())


def _checked(key: str, source: str) -> str:
    kind, _, name = key.partition(".")
    if key == "*" or (kind in _PREFERABLE and (name == "*" or name.isidentifier())):
        return key
    raise PluginError(
        f"{source}: cannot prefer {key!r}. Expected KIND.NAME, KIND.* or *, with KIND one of "
        f"{', '.join(_PREFERABLE)}." + ("" if kind in _PREFERABLE else nearest(kind, _PREFERABLE))
    )


def _read_project(settings: Settings, path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    # A file that never speaks of us is not ours to judge, nor worth the parser's import.
    if "plugrad" not in text:
        return
    _apply_section(settings, _section(text, path), f"{SECTION} in {path.absolute()}")


def _section(text: str, path: Path) -> dict[str, Any]:
    import tomllib

    try:
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise PluginError(f"Cannot read {SECTION} in {path}: {error}") from error
    found = tool.get("plugrad", {}) if isinstance(tool, dict) else {}
    return found if isinstance(found, dict) else {"": found}


def _apply_section(settings: Settings, section: dict[str, Any], source: str) -> None:
    for key in section:
        if key not in _KEYS:
            raise PluginError(
                f"{source}: unknown key {key!r}; known: {', '.join(_KEYS)}.{nearest(key, _KEYS)}"
            )
    prefer = _flat(section.get("prefer", {}))
    disable = section.get("disable", [])
    strict = section.get("strict", settings.strict)
    if not (_texts(prefer.values()) and isinstance(disable, list) and _texts(disable)):
        raise PluginError(f"{source}: expected {_FORM}; got {section!r}.")
    if not isinstance(strict, bool):
        raise PluginError(f"{source}: expected strict = true or false; got {strict!r}.")
    for name, distribution in prefer.items():
        settings.prefer(name, distribution, source)
    for distribution in disable:
        settings.disable(distribution, source)
    settings.strict = strict


def _flat(table: Any) -> dict[str, Any]:
    # TOML reads an unquoted functions.mish as a table of its own.
    if not isinstance(table, dict):
        return {"": table}
    flat: dict[str, Any] = {}
    for key, value in table.items():
        nested = (
            {f"{key}.{name}": inner for name, inner in value.items()}
            if (isinstance(value, dict))
            else {key: value}
        )
        flat.update(nested)
    return flat


def _texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) and value for value in values)
