"""What checkers and editors know: plugrad's names, and anything else."""

from typing import Any

from core.link_hooks import *

def __getattr__(name: str) -> Any: ...
