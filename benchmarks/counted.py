"""What runs under callgrind: each case with N and with 2 N repetitions, between marks.

A mark is a call of the C function that callgrind was told to write its counts before
(`benchmarks.instructions.MARK`). The arguments are ``case=N``.
"""

import gc
import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).with_name("workers")), str(Path(__file__).parent)]

from calibration import calibration  # noqa: E402
from plugrad_worker import cases  # noqa: E402
from small import cases as small_cases  # noqa: E402

WARM = 10
"""Repetitions before: specialised bytecode, interned shapes and free lists are all in place."""

mark = os.getloadavg


def main(arguments: list[str]) -> None:
    functions = {**cases(), **small_cases(), "calibration": calibration}
    gc.disable()
    for function in functions.values():
        function(WARM)
    for argument in arguments:
        name, _, repeat = argument.partition("=")
        for times in (1, 2):
            mark()
            functions[name](times * int(repeat))
    mark()


if __name__ == "__main__":
    main(sys.argv[1:])
