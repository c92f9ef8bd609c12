"""What is said of plugins that are not there: when they fail, and when a name is missed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import PluginError, place
from core.registry.records import Plugin, PluginWarning, brief


def failure(plugin: Plugin) -> str:
    """What a failed plugin's warning says."""
    cause = brief(plugin.cause) if plugin.cause else "unknown cause"
    return (
        f"Plugin {plugin.name!r} ({plugin.value}) of {plugin} is not used: "
        f"{cause.removesuffix('.')}. {_cure(plugin)}"
    )


def warn(text: str) -> None:
    """Warn at the line of the user's program that led here, not at one of ours."""
    place.warn(text, PluginWarning)


def _cure(plugin: Plugin) -> str:
    if plugin.bundled:
        return "Run `plugrad doctor`."
    leave_out = f"PLUGRAD_DISABLE_PLUGINS={plugin.distribution} leaves it out."
    if isinstance(plugin.cause, PluginError):
        return leave_out
    missing = plugin.cause.name if isinstance(plugin.cause, ModuleNotFoundError) else None
    if missing and missing.partition(".")[0] == plugin.value.partition(":")[0].partition(".")[0]:
        return (
            f"Its own package is not there: install {plugin.distribution} again, or "
            f"`python -m pip uninstall {plugin.distribution}`."
        )
    return f"Repair or upgrade {plugin.distribution}; {leave_out}"


def recall(plugins: Sequence[Plugin], complete: bool) -> tuple[str, BaseException | None]:
    """End of a sentence about a miss: plugins that are not there and might have had the name."""
    notes = []
    failed = [plugin for plugin in plugins if plugin.state == "failed"]
    if failed:
        why = "; ".join(
            f"{plugin.name!r} of {plugin}: {brief(plugin.cause)}"
            for plugin in failed
            if plugin.cause
        )
        notes.append(f"It may belong to a plugin that failed to load ({why}).")
    disabled = dict.fromkeys(str(p) for p in plugins if p.state == "disabled")
    if disabled:
        notes.append(f"Disabled: {', '.join(disabled)}.")
    if not complete:
        notes.append("Plugins are being loaded; until then only bundled names can be used.")
    elif not any(plugin.bundled for plugin in plugins):
        notes.append(_not_installed())
    return "".join(f" {note}" for note in notes), failed[0].cause if failed else None


def _not_installed() -> str:
    """Why no plugin is found: entry points are metadata, which copies of the files alone lack."""
    if getattr(sys, "frozen", False):
        return (
            "This program was frozen without the metadata of plugrad, so that none of its plugins "
            "are found: take along what its distribution has, and all modules of core, backends "
            "and plugins, as `pyinstaller` does by itself where plugrad is installed."
        )
    root = Path(__file__).resolve().parents[2]
    return (
        "plugrad itself is not installed in this Python, so that none of its plugins are found: "
        f'run `python -m pip install -e "{root}"`.'
    )
