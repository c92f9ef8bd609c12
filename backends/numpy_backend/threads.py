"""One policy for the threads of BLAS and of compiled kernels: OpenMP's wait without turning.

OpenBLAS (NumPy's matrix products) and OpenMP (numba's parallel loops) each keep a thread for every
processor. By default OpenMP's threads spin after each parallel loop, and the next matrix product
has to share the processors with them. On two cores a step of four loops and three products took
16 ms so, and 3.6 ms with OMP_WAIT_POLICY=PASSIVE, which is all that matters of what was tried:

- It is read when the OpenMP library is loaded, that is at numba's first parallel loop and not when
  NumPy is imported. So it works as well when NumPy was imported long before this package.
- OPENBLAS_THREAD_TIMEOUT (read when NumPy is loaded) helps half as much, and adds nothing to it.
- Limiting BLAS with threadpoolctl around loops helps nothing, since it is not BLAS that spins; one
  thread for BLAS costs 6.4 ms, and one thread for numba gains nothing over the policy.
- numba's own work queue does not spin either, but ends the process when two threads enter it.

`python -m benchmarks.threads` measures all of these. A value that the user has set is left alone,
GOMP_SPINCOUNT, its finer form, included.
"""

from __future__ import annotations

import os

CHOSEN_BY_USER = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")


def prepare() -> None:
    """Ask OpenMP's threads to wait passively, unless the user has decided; costs nothing."""
    if not any(name in os.environ for name in CHOSEN_BY_USER):
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
