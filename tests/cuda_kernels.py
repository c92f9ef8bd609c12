"""The CUDA backend's kernels on arrays of NumPy's, and all sources that it gives to a compiler."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from warnings import catch_warnings

import ml_dtypes  # noqa: F401  by which NumPy knows bfloat16
import numpy as np
from all_ops import CHECKED, drawn

import core
from backends.cuda_backend import operations
from backends.cuda_backend.fusion import CudaLoops
from backends.cuda_backend.kernels import philox, rows, update
from core.arrays.backend import host
from core.registry.lazy import resolve
from core.testing.tolerances import Tolerance
from core.testing.trial import Trial
from core.tracing import Formulas

FLOATS = ("float16", "bfloat16", "float32", "float64")
FORMULAS = {key.rpartition(":")[2]: resolve(key) for key in operations.FORMULAS}
DRAWN = [name for name in FORMULAS if name in CHECKED]
RULES = [resolve(key) for key in operations.RULES]


class Floats(Trial):
    """A trial in bfloat16 as well, which has three bits less than float16."""

    def dtypes(self):
        found = super().dtypes()
        return [*found, "bfloat16"] if len(found) > 1 else found

    def allowed(self, dtype):
        if dtype != "bfloat16":
            return super().allowed(dtype)
        return Tolerance(*[8 * part for part in super().allowed("float16")])


class Collected:
    """Compiles nothing, and remembers all sources that it was given."""

    def __init__(self):
        self.sources = {}
        self.asked = 0

    def ready(self, source):
        self.sources[source] = None
        self.asked += 1
        return lambda grid, block, args: None


@contextmanager
def standing_in(kernels) -> Iterator[None]:
    """A context in which operations of NumPy's arrays take the kernels of the CUDA backend."""
    backend = host()
    formulas = Formulas(backend, CudaLoops(np, kernels))
    tables = {"kernels": formulas.compute, "gradient_kernels": formulas.gradient}
    before = {name: dict(getattr(backend, name)) for name in tables}
    try:
        for name, kernel in tables.items():
            getattr(backend, name).clear()
            getattr(backend, name).update(dict.fromkeys(FORMULAS.values(), kernel))
        yield
    finally:
        for name, kept in before.items():
            getattr(backend, name).clear()
            getattr(backend, name).update(kept)


def of_formulas(count):
    """The kernels of all operations in the table, and how many each asked for in each dtype."""
    collected, asked = Collected(), {}
    with standing_in(collected), np.errstate(all="ignore"):
        for name in DRAWN:
            for case in drawn(name, count):
                trial = Floats(case, host(), None, "reduction")
                for dtype in trial.dtypes():
                    before = collected.asked
                    with suppress(Exception):  # nothing has been computed
                        trial.run_with_gradients(dtype)
                    asked[name, dtype] = asked.get((name, dtype), 0) + collected.asked - before
    return list(collected.sources), asked


def of_rules():
    """The kernels of all update rules, in all dtypes."""
    found = {}
    for rule in RULES:
        for dtype in FLOATS:
            made = rule()
            made.t = 10
            made._state = {}
            param = core.Parameter(np.zeros(3, "f"))
            made.init_state(param)
            arrays = [n for n, value in made.state.items() if isinstance(value, np.ndarray)]
            others = {n: value for n, value in made.state.items() if n not in arrays}
            given_dtype = host().dtype(dtype)
            with catch_warnings(action="ignore"):  # of an eps that is 0 in float16
                recorded, _ = update.record(made, np, given_dtype, dtype, arrays, others)
            found[update.source(recorded)] = None
    return list(found)


def of_draws():
    """The kernels that draw random numbers."""
    each = [make(d) for make in (philox.uniform, philox.normal, philox.dropout) for d in FLOATS]
    return [*each, philox.bernoulli(), philox.integers()]


def of_sums():
    """The kernels that add into places."""
    of_rows = [rows.add_rows(dtype) for dtype in (*FLOATS, "int32", "int64")]
    return [rows.rank(), rows.merge(), *of_rows]
