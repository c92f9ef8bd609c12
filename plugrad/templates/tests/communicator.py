import subprocess
import sys

import pytest

PROGRAM = """
import sys
from core.communicators import create_communicator
from core.testing import check_communicator
folder, rank, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
check_communicator(create_communicator("thing", folder=folder, rank=rank, size=size), megabytes=1)
"""


@pytest.mark.parametrize("size", [1, 3])
def test_what_the_core_asks_of_a_communicator(size, tmp_path):
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), str(rank), str(size)])
        for rank in range(size)
    ]
    assert [process.wait(timeout=60) for process in started] == [0] * size
