"""Facts about the program, the libraries and the machine under which a training runs."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import core
from core.arrays import backend
from core.show.info import libraries, threads, version

if TYPE_CHECKING:
    from core.training import Loop

_PLUGRAD = "PLUGRAD_"
_SETTINGS = ("dtype", "debug", "type_check", "cudnn_deterministic", "use_cudnn", "autotune")


def of(trainer: Loop) -> dict[str, Any]:
    """Everything, as values that JSON can hold."""
    return {
        "folder": os.getcwd(),
        "git": git(_script_folder()),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "versions": {"plugrad": version("plugrad"), **libraries()},
        "plugins": {str(p.key): version(p.key) for p in core.plugins.list() if not p.bundled},
        "seed": backend.random_state()["stream"],
        "backend": str(backend.current_device()),
        "training": {
            "out": os.path.abspath(trainer.out),
            "stop": str(trainer.stop_trigger),
            "begins_after": trainer.updater.iteration,
            "extensions": list(trainer.extension_names()),
        },
        "optimizers": optimizers(trainer),
        "settings": {name: getattr(core.config, name) for name in _SETTINGS},
        "machine": {"platform": platform.platform(), "host": platform.node(), **threads()},
        "blas": blas(),
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_PLUGRAD)},
    }


def optimizers(trainer: Loop) -> dict[str, Any]:
    """Every optimizer with what it trains."""
    return {
        name: {
            "optimizer": repr(optimizer),
            "target": type(optimizer.target).__name__,
            "device": str(optimizer.target.device),
            "parameters": sum([p.size for p in optimizer.target.params(include_uninit=False)]),
        }
        for name, optimizer in trainer.updater.get_all_optimizers().items()
    }


def blas() -> Any:
    """What NumPy was built with, and the pools of threads that are loaded if that can be known."""
    found: dict[str, Any] = {}
    if "numpy" in sys.modules:
        built = sys.modules["numpy"].show_config(mode="dicts")["Build Dependencies"]["blas"]
        found = {name: built.get(name) for name in ("name", "version")}
    try:
        import threadpoolctl  # type: ignore[import-untyped]
    except ImportError:
        return found
    kept = ("user_api", "internal_api", "version", "num_threads", "architecture")
    pools = [{k: pool[k] for k in kept if k in pool} for pool in threadpoolctl.threadpool_info()]
    return {**found, "pools": pools}


def _script_folder() -> Path:
    """Where the program is, as far as it has a file."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(file).resolve().parent if file else Path.cwd()


def git(folder: Path) -> dict[str, Any] | None:
    """The commit that is checked out there, and whether files differ from it; None without Git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "changed": None if changes is None else bool(changes)}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
