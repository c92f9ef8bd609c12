"""What checkers and editors know: plugrad's names, and anything else."""

from typing import Any

from chainer.backends import cuda as cuda

def __getattr__(name: str) -> Any: ...
