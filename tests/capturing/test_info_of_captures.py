"""`plugrad info --capture` reports what scripts captured however they end."""

import pytest

from plugrad.commands.main import main

SCRIPT = """
import sys
import core, numpy as np
double = core.capture(lambda x: x * 2)
for _ in range(4): double(np.ones(3))
sys.exit({})
"""


@pytest.mark.parametrize(
    "end, status, told",
    [("", 0, ""), ("None", 0, ""), ("0", 0, ""), ("3", 3, ""), ("'no data'", 1, "no data\n")],
)
def test_a_script_that_exits_is_reported(tmp_path, capsys, end, status, told):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(end), encoding="utf-8")
    assert main(["info", "--capture", str(script)]) == status
    said = capsys.readouterr()
    assert "4 calls, 3 of them replayed" in said.out
    assert said.err == told
