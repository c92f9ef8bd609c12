"""What checkers and editors know: plugrad's names, and anything else."""

from typing import Any

from chainer import backends as backends
from chainer import cuda as cuda
from chainer import dataset as dataset
from chainer import datasets as datasets
from chainer import distributions as distributions
from chainer import function_hooks as function_hooks
from chainer import functions as functions
from chainer import initializers as initializers
from chainer import iterators as iterators
from chainer import link_hooks as link_hooks
from chainer import links as links
from chainer import optimizer_hooks as optimizer_hooks
from chainer import optimizers as optimizers
from chainer import serializers as serializers
from chainer import training as training

from core import *

__version__: str

def __getattr__(name: str) -> Any: ...
