"""The signatures of Chainer's functions and of their classes, as files of tests/data have them."""

import inspect
from pathlib import Path

DATA = Path(__file__).parent / "data"


def signatures(of="function"):
    """Name of a function, or of a `function_class`, -> its `inspect.Signature`."""
    lines = (DATA / f"{of}_signatures.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("(")[::2] for line in lines if line and not line.startswith("#")]
    return {
        name: inspect.signature(eval(f"lambda {rest.removesuffix(')')}: None"))
        for name, rest in pairs
    }
