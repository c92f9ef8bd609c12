"""plugrad's worker."""

from importlib.metadata import version

import numpy as np
from chain import of_chainers
from protocol import Case, serve

import core
import core.functions as F


def cases() -> dict[str, Case]:
    """Return what can be measured."""
    return of_chainers(core, F)


if __name__ == "__main__":
    serve(cases(), {"plugrad": version("plugrad"), "numpy": np.__version__})
