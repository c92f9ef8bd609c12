"""`plugrad doctor`: what may be wrong with an installation, each finding with its cure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from core import registry
from core.arrays import backend
from core.registry.kernel_claims import unfit
from core.registry.records import BUNDLED, brief, shown
from core.registry.wording import failure
from core.show.info import libraries, threads, version
from core.show.report import Report
from plugrad.commands import ranks
from plugrad.commands.editable import stale_installs
from plugrad.commands.listing import backends, plugins
from plugrad.commands.shadows import shadows

ROOT = Path(__file__).resolve().parents[2]


class Finding(NamedTuple):
    """One line of the report; `state` is 'ok', 'note' or 'problem'."""

    check: str
    state: str
    text: str


def doctor() -> Report:
    """Run every check; the status is 1 where one found a problem."""
    return report_of([finding for check in CHECKS for finding in _run(check)])


def report_of(findings: list[Finding]) -> Report:
    """A line for each finding, and how many problems there are; the status is 1 where any is."""
    problems = [finding for finding in findings if finding.state == "problem"]
    lines = [f"{finding.state:>7}  {finding.check}: {finding.text}" for finding in findings]
    lines.append(f"{len(problems)} problem{'s' if len(problems) != 1 else ''} found.")
    data = {"findings": [finding._asdict() for finding in findings], "problems": len(problems)}
    return Report(data, "\n".join(lines), int(bool(problems)))


def _run(check: Callable[[], Iterator[Finding]]) -> list[Finding]:
    name = check.__name__.removeprefix("_").replace("_", " ")
    try:
        return list(check()) or [Finding(name, "ok", "nothing to report")]
    except Exception as error:  # a check that cannot run is a finding, not the end of the report
        return [Finding(name, "problem", brief(error))]


def _versions() -> Iterator[Finding]:
    import platform

    yield Finding("versions", "ok", f"Python {platform.python_version()}, plugrad in {ROOT}")
    for name, installed in libraries().items():
        yield Finding("versions", "ok", f"{name} {installed or 'not installed'}")


def _threads() -> Iterator[Finding]:
    yield Finding("threads", "ok", ", ".join(f"{key} {value}" for key, value in threads().items()))


def _states() -> Iterator[Finding]:
    for name, missing in backend.available().items():
        if missing is None:
            for key, value in backend.get(name).state().items():
                yield Finding(name, "ok", f"{key}: {value}")


def _installation() -> Iterator[Finding]:
    if version(BUNDLED) is None:
        cure = f'run `python -m pip install -e "{ROOT}"`'
        yield Finding("installation", "problem", f"plugrad is not installed here: {cure}")
    for text in stale_installs():
        yield Finding("installation", "problem", text)


def _shadows() -> Iterator[Finding]:
    for text in shadows():
        yield Finding("shadows", "problem", text)


def _plugins() -> Iterator[Finding]:
    for plugin in registry.installed.plugins():
        if plugin.state == "failed":
            yield Finding("plugins", "problem", failure(plugin))
        elif plugin.state == "disabled":
            yield Finding("plugins", "note", f"{plugin.name!r} of {plugin} is disabled")
        for claim in plugin.claims:
            try:
                claim.resolve()
            except registry.BrokenName as error:
                yield Finding("plugins", "problem", str(error))


def _kernels() -> Iterator[Finding]:
    for name in [name for name, missing in backend.available().items() if missing is None]:
        for text in unfit(registry.installed.plugins(), name):
            yield Finding("kernels", "problem", text)


def _conflicts() -> Iterator[Finding]:
    for conflict in plugins().data["conflicts"]:
        what = shown(conflict["kind"], conflict["name"])
        who = " and ".join(conflict["distributions"])
        yield Finding("conflicts", "problem", f"{what} is claimed by {who}: prefer one")
    for plugin in registry.installed.plugins():
        for claim in plugin.claims:
            others = registry.catalogue(claim.kind).claims(claim.name)
            if not plugin.bundled and any(other.plugin.bundled for other in others):
                hidden = f"{shown(claim.kind, claim.name)} of {plugin}"
                yield Finding("conflicts", "note", f"{hidden} is hidden by the bundled name")


def _settings() -> Iterator[Finding]:
    decided = registry.installed.snapshot().decided
    known = {plugin.key for plugin in registry.installed.plugins()}
    for key, (distribution, source) in decided.preferences.items():
        if distribution not in known:
            text = f"{source} prefers {distribution!r} for {key}, which has no plugins here"
            yield Finding("settings", "problem", text)
    for distribution, source in decided.disabled.items():
        if distribution != "*" and distribution not in known:
            text = f"{source} disables {distribution!r}, which has no plugins here"
            yield Finding("settings", "note", text)


def _backends() -> Iterator[Finding]:
    for row in backends().data:
        state = "ok" if row["available"] else "note"
        yield Finding("backends", state, f"{row['backend']}: {row['reason'] or 'available'}")


def _ranks() -> Iterator[Finding]:
    for state, text in ranks.findings():
        yield Finding("ranks", state, text)


CHECKS = (
    _versions,
    _threads,
    _states,
    _installation,
    _shadows,
    _plugins,
    _kernels,
    _conflicts,
    _settings,
    _backends,
    _ranks,
)
