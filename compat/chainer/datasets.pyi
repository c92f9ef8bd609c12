"""What checkers and editors know: plugrad's names, and anything else."""

from typing import Any

from core.datasets import *

def __getattr__(name: str) -> Any: ...
