"""What a figure was measured on."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path


def machine() -> dict[str, str | int]:
    """Describe the machine and the interpreter, for a result file."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "compiler": platform.python_compiler(),
        "numpy": version("numpy"),
    }


def processor() -> str:
    """Return the processor's name: Linux tells it in /proc, others in `platform`."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
