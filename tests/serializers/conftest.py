"""What the tests of this folder share: each kind of file, and a path for one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kinds import KINDS


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state"
