"""The frameworks that plugrad is measured against, each in a virtual environment of its own.

The environments live in ``benchmarks/.peers/`` (git ignores it) and are made on first use, one for
each interpreter that the benchmarks are run with: a framework and its peers share the interpreter.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import BenchmarkError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

HOME = Path(__file__).with_name(".peers")


@dataclass(frozen=True)
class Peer:
    """How to install a framework: the arguments of each ``pip install``, all pinned."""

    installs: tuple[tuple[str, ...], ...]
    python: str | None = None
    """The one Python version it runs on, where it does not run on ours."""


PEERS = {
    "torch": Peer(installs=(("torch==2.13.0", "numpy==2.4.6"),)),
    # Chainer ended before PEP 517 and NumPy 1.24: it builds with the setuptools of its time.
    "chainer": Peer(
        installs=(
            ("numpy==1.23.5", "setuptools==65.7.0", "wheel==0.48.0", "six==1.17.0")
            + ("filelock==4.2.11", "protobuf==7.36.2", "typing_extensions==4.16.0"),
            ("--no-build-isolation", "--no-deps", "chainer==7.8.1"),
            ("scipy==1.10.1",),  # without it, erf is a loop in Python
        ),
        python="3.11",
    ),
    "jax": Peer(
        installs=(
            ("jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6", "scipy==1.17.1")
            + ("ml_dtypes==0.6.0", "opt_einsum==3.4.0"),
        ),
    ),
}


def environment(name: str) -> Path:
    """Return the Python of a peer's virtual environment, made now if need be."""
    folder = HOME / f"{name}-{_digest(_recipe(name))}"
    python = folder / "bin" / "python"
    done = folder / "installed.json"
    if done.exists():
        return python
    with _alone(folder):
        if not done.exists():
            print(f"making benchmarks/.peers/{folder.name} (once) ...", file=sys.stderr, flush=True)
            _make(name, folder, python)
            # Written last: an interrupted installation is never taken for a finished one.
            done.write_text(_recipe(name))
    return python


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process makes the same environment, where the system has such locks."""
    HOME.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)  # ends with the file
        yield


def _recipe(name: str) -> str:
    return json.dumps({"base": _base(PEERS[name]), **asdict(PEERS[name])})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _make(name: str, folder: Path, python: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _run(name, [_base(PEERS[name]), "-m", "venv", str(folder)])
    for arguments in PEERS[name].installs:
        _run(name, [str(python), "-m", "pip", "install", "--quiet", *arguments])


def _base(peer: Peer) -> str:
    """Return the interpreter that an environment is made with."""
    if peer.python is None or sys.version.startswith(peer.python + "."):
        return os.path.realpath(sys.executable)
    found = shutil.which(f"python{peer.python}")
    if found is None:
        raise BenchmarkError(
            f"this peer runs on Python {peer.python} only, and python{peer.python} is not on the "
            f"PATH. Put one there, or leave the peer out of --against."
        )
    return found


def _run(name: str, command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise BenchmarkError(
            f"could not make the environment of {name}: {' '.join(command)} ended with "
            f"{result.returncode}\n{(result.stdout + result.stderr)[-2000:]}"
        )
