"""Kernels from formulas: large arrays of operations that need no kernel by hand, in compiled loops.

An operation stands here where its formula, or its gradient rules, make several arrays on the way,
and a loop for all of them takes at most four fifths of their time on one thread (of 512 by 1024
float32). Others that were looked at win nothing: functions of one call, as `sin`, whose time NumPy
spends on the function itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

from core import is_debug
from core.arrays.backend import BACKENDS

LEAST = 65536
"""Elements of the first input: of fewer, looking for the loop takes as long as it saves."""

SHORT = 8
"""Elements of the last axis: of fewer, a loop along them takes two to four times NumPy's time."""

LEAST_OF_LONG = 16
"""The same of long formulas, which call NumPy some twenty times."""

_FUNCTIONS = "plugins.functions"
_HERE = __name__


def _named(kernel: str, *operations: str) -> dict[str, str]:
    return dict.fromkeys([f"{_FUNCTIONS}.{operation}" for operation in operations], kernel)


_AS_LARGE = (  # whose result is as large as the first input
    "activation.prelu:PReLU",
    "activation.rrelu:RReLU",
    "loss.absolute_error:AbsoluteError",
    "loss.squared_error:SquaredError",
    "math.erf:Erf",
    "math.erfc:Erfc",
    "math.erfc:Erfcx",
    "math.erfinv:Erfcinv",
    "math.erfinv:Erfinv",
    "math.gamma:Digamma",
    "math.gamma:LGamma",
    "math.linear_interpolate:LinearInterpolate",
    "math.ndtr:LogNdtr",
    "math.ndtr:Ndtr",
    "math.ndtr:Ndtri",
    "math.root:Rsqrt",
    "math.root:Sqrt",
    "math.squared_difference:SquaredDifference",
    "noise.zoneout:Zoneout",
    "normalization.l2_normalization:NormalizeL2",
    "normalization.rms_normalization:RMSNormalization",
)
_OF_FEW = (  # whose result may have a few elements
    "evaluation.r2_score:R2Score",
    "loss.contrastive:Contrastive",
    "loss.hinge:Hinge",
    "loss.huber_loss:HuberLoss",
    "loss.mean_absolute_error:MeanAbsoluteError",
    "loss.mean_squared_error:MeanSquaredError",
    "loss.triplet:Triplet",
    "loss.vae:BernoulliNLL",
    "loss.vae:GaussianKLDivergence",
    "loss.vae:GaussianNLL",
    "math.logsumexp:LogSumExp",
)
_SEVERAL_OUTPUTS = ("rnn.slstm:SLSTM", "rnn.tree_lstm:TreeLSTM")
_FORWARD_ONLY = (
    "activation.crelu:CReLU",  # whose gradients have kernels by hand
    "math.gamma:Trigamma",  # whose gradients are powers
)
_BACKWARD_ONLY = (
    "math.absolute:Absolute",
    "math.arithmetic:Power",
    "math.trigonometric:Arccos",
    "math.trigonometric:Arcsin",
    "math.trigonometric:Arctan2",
)

_LONG = (  # among these; each has one loop for all shapes
    "math.erf:Erf",
    "math.erfc:Erfc",
    "math.erfc:Erfcx",
    "math.erfinv:Erfcinv",
    "math.erfinv:Erfinv",
    "math.gamma:Digamma",
    "math.gamma:LGamma",
    "math.gamma:Trigamma",
    "math.ndtr:LogNdtr",
    "math.ndtr:Ndtr",
    "math.ndtr:Ndtri",
)

_LONG_GRADIENTS = (
    "math.erfc:Erfcx",
    "math.gamma:Digamma",
    "math.gamma:LGamma",
    "math.ndtr:LogNdtr",
)

_BATCH_NORM = "math.norm:BatchL2NormSquared"

COMPUTE = _named(f"{_HERE}:compute", *_AS_LARGE, *_OF_FEW, *_SEVERAL_OUTPUTS, *_FORWARD_ONLY)
COMPUTE |= _named(f"{_HERE}:compute_long", *_LONG)
COMPUTE |= _named(f"{_HERE}:compute_of_rows", "math.lengths:EuclideanNorm", _BATCH_NORM)
GRADIENT = _named(f"{_HERE}:gradient", *_AS_LARGE, *_BACKWARD_ONLY) | _named(
    f"{_HERE}:gradient_of_first", *_OF_FEW, *_SEVERAL_OUTPUTS
)
GRADIENT |= _named(f"{_HERE}:gradient_long", *_LONG_GRADIENTS)
GRADIENT |= _named(f"{_HERE}:gradient_of_rows", _BATCH_NORM)


@cache
def _formulas(backend: Any) -> Any:
    from core.tracing import Formulas

    return Formulas(backend, backend.fuser())


def compute(f: Any, xp: Any, *arrays: Any) -> Any:
    """The kernel of an operation, from its formula."""
    return _formulas(BACKENDS[type(arrays[0])]).compute(f, xp, *arrays)


def compute_long(f: Any, xp: Any, *arrays: Any) -> Any:
    """The kernel of an operation with a long formula."""
    return compute(f, xp, *arrays)


def compute_of_rows(f: Any, xp: Any, x: Any) -> Any:
    """The kernel of an operation that takes sums, over rows above all."""
    return NotImplemented if x.shape[-1:] < (SHORT,) else compute(f, xp, x)


def _ready(spec: Any) -> Callable[..., Any]:
    """`compute` for inputs of one shape and dtype: the loop is looked for once."""
    found: Any = None

    def ready(f: Any, xp: Any, *arrays: Any) -> Any:
        nonlocal found
        if found:
            return found(*arrays)
        y = compute(f, xp, *arrays)
        if found is None and y is not NotImplemented and not is_debug():
            found = _formulas(BACKENDS[type(arrays[0])]).found(f, *arrays) or False
        return y

    return ready


def gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """The kernel of its gradients, from its rules."""
    return _formulas(f._sources[0].spec.backend).gradient(f, g, needs_grad)


def gradient_long(f: Any, g: Any, needs_grad: int) -> Any:
    """The kernel of the gradients of an operation whose rules are long formulas too."""
    return gradient(f, g, needs_grad)


def gradient_of_first(f: Any, g: Any, needs_grad: int) -> Any:
    """As `gradient`, for operations whose cost is that of the first input, not of a result."""
    few = prod(f._sources[0].spec.shape) < gradient.least  # type: ignore[attr-defined]
    return NotImplemented if few else gradient(f, g, needs_grad)


def gradient_of_rows(f: Any, g: Any, needs_grad: int) -> Any:
    """As `gradient_of_first`, for operations whose gradients are those of sums of rows."""
    short = f._sources[0].spec.shape[-1:] < (SHORT,)
    return NotImplemented if short else gradient_of_first(f, g, needs_grad)


_kernel: Any
compute_long.ready = _ready  # type: ignore[attr-defined]
for _kernel in (compute, compute_of_rows, gradient):
    _kernel.least = LEAST
for _kernel in (compute_long, gradient_long):
    _kernel.least = LEAST_OF_LONG
for _kernel in (compute, compute_long, compute_of_rows):
    _kernel.in_loops = True
for _kernel in (gradient, gradient_long, gradient_of_first, gradient_of_rows):
    _kernel.in_loops = True
