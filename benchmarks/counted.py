"""What runs under callgrind: ``python benchmarks/counted.py case=repeat ...``.

Every case is always set up and warmed up, and the arguments differ by a number only: between two
runs all that differs is the repetitions asked for.
"""

import gc
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).with_name("workers")), str(Path(__file__).parent)]

from calibration import calibration  # noqa: E402
from plugrad_worker import cases  # noqa: E402

WARM = 10
"""Repetitions before: specialised bytecode, interned shapes and free lists are all in place."""


def main(arguments: list[str]) -> None:
    functions = {**cases(), "calibration": calibration}
    gc.disable()
    for function in functions.values():
        function(WARM)
    for argument in arguments:
        name, _, repeat = argument.partition("=")
        functions[name](int(repeat))


if __name__ == "__main__":
    main(sys.argv[1:])
