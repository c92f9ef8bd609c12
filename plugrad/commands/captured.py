"""`plugrad info --capture`: what a script's captured steps were, and what was left to eager."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from core.capturing import capturing
from core.errors import CoreError
from core.show.report import Report


def captured(script: str = "", *arguments: str) -> Report:
    """Run a script as `python script arguments` does; the reports of its captured steps.

    The status is that with which the script ends by `sys.exit`, whose words go to `stderr`.
    """
    if not script or not Path(script).exists():
        raise CoreError(f"expected a script to run; found no file {script!r}.")
    steps: list[capturing.Captured] = []
    capturing.kept = steps
    before, status = (sys.argv, sys.path[:]), 0
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if status and end.code is not status:
            print(end.code, file=sys.stderr)
    finally:
        capturing.kept = None
        sys.argv, sys.path[:] = before
    data = [
        {"step": s.name, "calls": s.calls, "replayed": s.replayed, "reasons": s.reasons}
        for s in steps
    ]
    text = "\n".join([s.report() for s in steps]) or "no step was captured"
    return Report(data, text, status)
