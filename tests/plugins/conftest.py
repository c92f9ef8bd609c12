"""Environments of made-up plugins, so that the policy is tested without installing anything."""

import os
import subprocess
import sysconfig
import venv
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

from core import hookimpl
from core.registry import Catalogue, Registry
from core.registry.settings import read

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = Path("no-such-folder")


class Entry:
    """An entry point: what `importlib_metadata` would give for one line of a pyproject."""

    def __init__(self, distribution, subject, name=None, version="1.0"):
        self.name = name or distribution
        self.value = f"{distribution.replace('-', '_')}.hooks"
        self.dist = SimpleNamespace(name=distribution, version=version)
        self.subject = subject
        self.loads = 0

    def load(self):
        self.loads += 1
        if isinstance(self.subject, BaseException):
            raise self.subject
        return self.subject() if callable(self.subject) else self.subject


class Environment:
    """A registry over given entries and settings."""

    def __init__(self, entries, environ=None, directory=None):
        self.entries = list(entries)
        self.registry = Registry(
            lambda: self.entries, lambda: read(environ or {}, directory or NOWHERE)
        )

    def __getattr__(self, kind):
        return Catalogue(self.registry, kind)

    def plugin(self, distribution):
        (found,) = [p for p in self.registry.plugins() if p.distribution == distribution]
        return found


def module(*, api=None, kernels=None, **kinds):
    """A plugin module whose hooks return the given mappings."""
    made = SimpleNamespace()
    if api is not None:
        made.requires_plugin_api = api
    for kind, given in kinds.items():
        setattr(made, f"register_{kind}", hookimpl(_returning(given)))
    if kernels is not None:

        def register_kernels(backend):
            return kernels(backend)

        made.register_kernels = hookimpl(register_kernels)
    return made


def _returning(given):
    def hook():
        if isinstance(given, BaseException):
            raise given
        return given

    return hook


@pytest.fixture
def make():
    """`make.entry`, `make.module` and `make.environment`."""
    return SimpleNamespace(entry=Entry, module=module, environment=Environment)


class Venv:
    """A fresh virtual environment that sees this one's libraries, so that nothing is downloaded."""

    def __init__(self, path):
        self.path = path
        self.bin = path / ("Scripts" if os.name == "nt" else "bin")

    def create(self):
        venv.create(self.path, with_pip=False, symlinks=os.name != "nt")
        (site,) = self.path.glob("lib/python*/site-packages")
        # Entries of this environment's own .pth files do not come along: no plugrad from here.
        folders = [
            _without_plugins(self.path / f"libraries{i}", Path(f)) for i, f in enumerate(LIBRARIES)
        ]
        (site / "libraries.pth").write_text("\n".join(map(str, folders)) + "\n")

    def install(self, *sources):
        options = "-q --no-deps --no-build-isolation --no-index --ignore-installed --no-compile"
        self.run("python", "-m", "pip", "install", *options.split(), *sources)

    def run(self, *command, status=0, cwd=None, **environ):
        """Run a command there; gives what it printed, standard error included."""
        done = subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=cwd or self.path,
            env=self.environ(environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def environ(self, more):
        ours = ("PLUGRAD_", "PYTHON", "PYTEST_")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        path = os.pathsep.join([str(self.bin), kept.get("PATH", "")])
        quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
        return {**kept, **quiet, "PATH": path, "VIRTUAL_ENV": str(self.path), **more}


LIBRARIES = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


def _without_plugins(mirror, folder):
    """A folder of libraries, or links to all in it but the plugins that are installed there."""
    if {entry.dist.name for entry in entry_points(group="plugrad")} <= {"plugrad"}:
        return folder
    mirror.mkdir()
    for each in folder.iterdir():
        points = each / "entry_points.txt"
        if not (points.is_file() and "[plugrad]" in points.read_text(encoding="utf-8")):
            (mirror / each.name).symlink_to(each)
    return mirror


@pytest.fixture(scope="session")
def venv_with(tmp_path_factory):
    """`venv_with(name, *sources)`: a virtual environment with plugrad, and more.

    Where files can be locked, all workers share it: the first that asks makes it.
    """
    folder = tmp_path_factory.getbasetemp()
    if fcntl and "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def made(name, *sources):
        found, done = Venv(folder / name), folder / f"{name} is installed"
        with (folder / f"{name}.lock").open("w") as lock:
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                found.create()
                found.install(str(ROOT), *map(str, sources))
                done.touch()
        return found

    return made


@pytest.fixture(scope="session")
def fresh(venv_with):
    """A virtual environment with plugrad and nothing else, which stays so: many tests share it."""
    return venv_with("fresh")
