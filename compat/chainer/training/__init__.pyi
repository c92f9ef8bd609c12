"""What checkers and editors know: plugrad's names, and anything else."""

from typing import Any

from chainer.training import extensions as extensions
from chainer.training import triggers as triggers
from chainer.training import updaters as updaters

from core.training import *

def __getattr__(name: str) -> Any: ...
