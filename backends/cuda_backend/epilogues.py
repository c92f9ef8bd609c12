"""Products of matrices whose bias, or its gradient, is computed along with them by cuBLASLt.

nvmath-python plans them; cuBLASLt adds what it adds along the rows of a result whose columns lie in
one piece. So the transposed product is asked for: its transpose lies as ours do.
"""

from __future__ import annotations

from collections import OrderedDict
from importlib import import_module
from importlib.util import find_spec
from threading import local
from typing import Any

from backends.cuda_backend.cudnn.layout import whole
from backends.cuda_backend.cudnn.use import HALVES, takes_halves
from backends.cuda_backend.recording import HERE
from core import config
from core.arrays.backend import BACKENDS

INSTALL = "pip install 'plugrad[nvmath]' for CUDA 13, or 'plugrad[nvmath12]' for CUDA 12"
MOST = 256  # plans of a thread; what was not asked for the longest goes first

_SUMS = {"float64": "COMPUTE_64F", "float32": "COMPUTE_32F"} | dict.fromkeys(HALVES, "COMPUTE_32F")


def missing() -> str | None:
    """What keeps nvmath-python from being used here, with the cure; None where nothing does."""
    if find_spec("nvmath") is None:
        return f"nvmath-python is not installed: {INSTALL}"
    try:
        import_module("nvmath.bindings.cublasLt").get_version()
    except Exception as error:  # NVIDIA's own, of a library that it does not find
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        return f"cuBLASLt cannot be loaded ({said}); reinstall it: {INSTALL}"
    return None


class Epilogues:
    """The planned products of each thread; memory to work in comes from CuPy's pool.

    Args:
        cupy: CuPy, on whose current GPU and stream products are computed.
    """

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._products = import_module("nvmath.linalg.advanced")
        self._threads = local()
        self.declined: dict[str, str] = {}
        """Epilogues that cuBLASLt has no plan for, and the last reason that it gave."""

    def product(self, a: Any, b: Any, name: str, **inputs: Any) -> Any:
        """The product of two matrices with the epilogue called `name`, planned for their layout.

        Returns:
            What nvmath-python does: the product, and a dictionary of what the epilogue gives, if
            it gives something. NotImplemented where cuBLASLt has no plan for it.
        """
        mine = self._threads
        if not hasattr(mine, "known"):
            mine.known = OrderedDict()
        known: OrderedDict[Any, Any] = mine.known  # None for what has no plan
        sums = _SUMS[a.dtype.name]
        if config.tf32 and a.dtype.name == "float32":
            sums = "COMPUTE_32F_FAST_TF32"
        device = int(self._cupy.cuda.runtime.getDevice())
        of_inputs = [(n, i.shape, i.strides) for n, i in sorted(inputs.items())]
        layouts = [(x.shape, x.strides, begin(x)) for x in (a, b)]
        key = name, *layouts, a.dtype.name, *of_inputs, sums, device
        stream = self._cupy.cuda.get_current_stream()
        is_new = key not in known
        if is_new:
            known[key] = self._planned(a, b, name, sums, inputs, stream)
            if len(known) > MOST and (oldest := known.popitem(last=False)[1]) is not None:
                oldest.free()
        known.move_to_end(key)
        planned = known[key]
        if planned is None:
            return NotImplemented
        if not is_new:
            # Unchecked, for the key says that all is alike.
            planned.reset_operands_unchecked(a=a, b=b, epilog_inputs=inputs or None, stream=stream)
        found = planned.execute(stream=stream, release_workspace=True)
        planned.release_operands()
        return found

    def _planned(self, a: Any, b: Any, name: str, sums: str, inputs: Any, stream: Any) -> Any:
        """The plan; None where cuBLASLt has none, and why is noted."""
        compute = getattr(self._products.MatmulComputeType, sums)
        epilogue, made = getattr(self._products.MatmulEpilog, name), None
        try:
            made = self._products.Matmul(a, b, options={"compute_type": compute}, stream=stream)
            made.plan(epilog=epilogue, epilog_inputs=inputs or None, stream=stream)
        except MemoryError:
            raise
        except Exception as error:  # NVIDIA's own have no class in common
            if made is not None:
                made.free()
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            self.declined[f"{name} of {a.dtype.name}"] = reason
            return None
        return made


def begin(array: Any) -> int:
    """The power of 2, up to 256, that its address is a multiple of: plans may rely on that."""
    place: int = array.data.ptr
    return min(256, place & -place)


@takes_halves
def linear(f: Any, xp: Any, x: Any, W: Any, b: Any = None) -> Any:
    """`x W^T + b` in one launch; without a bias CuPy's product is as good."""
    if b is None or not _alike(x, W, b):
        return NotImplemented
    epilogues = _usable(BACKENDS[type(x)])
    if epilogues is None:
        return NotImplemented
    y = epilogues.product(_rows(xp, W), _rows(xp, x).T, "BIAS", bias=whole(xp, b))
    return y if y is NotImplemented else y.T


@takes_halves
def linear_gradient(f: Any, g: Any, needs_grad: int) -> Any:
    """The gradients; those of the weights and of the bias in one launch."""
    if len(f._sources) < 3 or needs_grad & 6 != 6:
        return NotImplemented
    spec = f._sources[0].spec
    x, W, _ = [source.data for source in f._sources]
    epilogues = _usable(spec.backend)
    if epilogues is None or not _alike(g, x) or (needs_grad & 1 and W.dtype != g.dtype):
        return NotImplemented
    found = epilogues.product(_rows(spec.xp, x).T, _rows(spec.xp, g), "BGRADB")
    if found is NotImplemented:
        return NotImplemented
    gW, given = found
    gx = spec.xp.matmul(g, W) if needs_grad & 1 else None
    return gx, gW.T, given["bgradb"]


def _usable(backend: Any) -> Any:
    """The planned products; None where they are not there, or not to be in a graph."""
    recorded = HERE.recording is None or HERE.recording.epilogues
    return backend.epilogues if recorded else None


def _alike(*arrays: Any) -> bool:
    """Whether cuBLASLt knows their dtype, which they share, and there is something to compute."""
    first = arrays[0].dtype
    return first.name in _SUMS and all([a.dtype == first and a.size > 0 for a in arrays])


def _rows(xp: Any, a: Any) -> Any:
    return xp.ascontiguousarray(a)
