"""Chainer's worker: the same chain."""

import chainer
import chainer.functions as F
import numpy as np
from chain import of_chainers
from protocol import serve

if __name__ == "__main__":
    versions = {"chainer": chainer.__version__, "numpy": np.__version__}
    serve(of_chainers(chainer, F), versions)
