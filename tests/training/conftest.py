"""Lets the tests of this folder import what they share, and takes back the seed they install."""

import sys
from pathlib import Path

import pytest

import core

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def unseeded():
    yield
    core.seed(None)
