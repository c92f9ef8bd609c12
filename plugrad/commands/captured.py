"""`plugrad info --capture`: what a script's captured steps were, and what was left to eager."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from core.show.report import Report
from core.tracing import capturing


def captured(script: str, arguments: list[str]) -> Report:
    """Run a script as `python script arguments` does; the reports of its captured steps."""
    steps: list[capturing.Captured] = []
    capturing.kept = steps
    before = sys.argv, sys.path[:]
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        capturing.kept = None
        sys.argv, sys.path[:] = before
    data = [
        {"step": s.name, "calls": s.calls, "replayed": s.replayed, "reasons": s.reasons}
        for s in steps
    ]
    return Report(data, "\n".join([s.report() for s in steps]) or "no step was captured")
