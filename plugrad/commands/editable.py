"""Editable installs whose metadata no longer says what their `pyproject.toml` says.

An editable install follows the sources, but its entry points and version freeze when it is made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from core.registry.declared import GROUP, declared


def stale_installs(distributions: Iterable[Any] | None = None) -> Iterator[str]:
    """A sentence for each editable install with plugins that has to be made again."""
    import importlib_metadata

    for distribution in distributions or importlib_metadata.distributions():
        entries = {each.name: each.value for each in declared(distribution)}
        source = _editable_source(distribution)
        if source is not None and (entries or distribution.name == "plugrad"):
            yield from _compare(distribution, entries, source)


def _editable_source(distribution: Any) -> Path | None:
    direct = json.loads(distribution.read_text("direct_url.json") or "{}")
    if not direct.get("dir_info", {}).get("editable"):
        return None
    return Path(url2pathname(urlparse(direct["url"]).path))


def _compare(distribution: Any, entries: dict[str, str], source: Path) -> Iterator[str]:
    import tomllib

    again = f'run `python -m pip install -e "{source}"` again'
    try:
        text = (source / "pyproject.toml").read_text(encoding="utf-8")
        project = tomllib.loads(text)["project"]
    except (OSError, KeyError, ValueError) as error:
        yield f"{distribution.name} is installed from {source}, whose pyproject.toml fails: {error}"
        return
    declared = project.get("entry-points", {}).get(GROUP, {})
    changed = sorted({name for name, _ in entries.items() ^ declared.items()})
    if changed:
        yield f"{distribution.name}: entry points {', '.join(changed)} changed: {again}"
    if "version" in project and project["version"] != distribution.version:
        known, now = distribution.version, project["version"]
        yield f"{distribution.name}: installed as {known}, the sources say {now}: {again}"
