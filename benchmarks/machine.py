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
    """Say how the interpreter was built, which moves all of its figures by a fifth.

    A distribution may have guided the compiler by a profile without the option that asks for it,
    so what is said is the option and not the fact.
    """
    options = sysconfig.get_config_var("CONFIG_ARGS") or ""
    given = "with" if "--enable-optimizations" in options else "without"
    return f"{platform.python_compiler()}, configured {given} --enable-optimizations"


def processor() -> str:
    """Return the processor's name: Linux tells it in /proc, others in `platform`."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
