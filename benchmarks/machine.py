"""What a figure was measured on."""

import os
import platform
import sysconfig
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
        "build": build(),
        "numpy": version("numpy"),
    }


def build() -> str:
    """Say how the interpreter was compiled: one without profile-guided optimization is slower."""
    options = sysconfig.get_config_var("CONFIG_ARGS") or ""
    guided = "with" if "--enable-optimizations" in options else "without"
    return f"{platform.python_compiler()}, {guided} profile-guided optimization"


def processor() -> str:
    """Return the processor's name: Linux tells it in /proc, others in `platform`."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
