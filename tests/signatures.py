"""The signatures of Chainer's functions, as tests/data/function_signatures.txt has them."""

import inspect
from pathlib import Path

LIST = Path(__file__).parent / "data" / "function_signatures.txt"


def signatures():
    """Name of a function -> its `inspect.Signature`."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("(")[::2] for line in lines if line and not line.startswith("#")]
    return {
        name: inspect.signature(eval(f"lambda {rest.removesuffix(')')}: None"))
        for name, rest in pairs
    }
