"""Lets the tests of this folder import what they share, and takes back the seed they install."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

import core

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.seed(None)


@pytest.fixture
def read_only():
    """A directory that nothing can be written to, not even where root runs the tests."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield folder
    if root:
        os.seteuid(0)
    shutil.rmtree(folder)
