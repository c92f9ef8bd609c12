"""One drawn call of an op on one backend: what every check starts from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from core.arrays.backend import HostRandom, host, random_state, set_random_state
from core.errors import BackendError
from core.graph.backprop import grad
from core.graph.variable import Variable
from core.ops.types.domain import Domain
from core.testing.strategies import Case
from core.testing.tolerances import Tolerance, tolerance

FLOATS = ("float64", "float32", "float16")


@lru_cache(64)  # the error takes a millisecond, and is asked for in each check
def _has(backend: Any, name: str) -> bool:
    try:
        backend.dtype(name)
    except BackendError:
        return False
    return True


class Trial:
    """A case, a backend, and the op's reference; `dtype` arguments are names."""

    def __init__(self, case: Case, backend: Any, reference: Any, kind: str) -> None:
        self.case = case
        self.op = case.op
        self.domain: Domain = case.op.domain
        self.backend = backend
        self.reference = reference
        self.kind = kind
        self._random_state = random_state() if self.is_random else None

    @property
    def is_random(self) -> bool:
        """Whether the op draws random numbers; then every run starts from the same state."""
        return "random" in self.domain.leave_out.values()

    @property
    def draws_its_own(self) -> bool:
        """Whether the op draws numbers of the backend's own, others in each dtype, not NumPy's."""
        own = type(self.backend.random) is not HostRandom and self.backend is not host()
        return own and self.is_random

    def dtypes(self) -> list[str]:
        """Floating dtypes that the backend has, the most precise first; none for integer ops."""
        if not any(declared.real for declared in self.case.inputs):
            return ["float32"]
        return [name for name in FLOATS if _has(self.backend, name)]

    def allowed(self, dtype: str) -> Tolerance:
        """The tolerance of results in `dtype`."""
        return tolerance(self.kind, dtype)

    # -- running -----------------------------------------------------------------------------------

    def arrays(self, dtype: str) -> list[Any]:
        """The inputs as new arrays of the backend."""
        return [self.backend.asarray(np.array(a)) for a in self.case.arrays(dtype)]

    def variables(
        self, arrays: Sequence[Any], needs_grad: Sequence[int] | None = None
    ) -> list[Any]:
        """Variables of the arrays; those in `needs_grad` (default: all that can) need one."""
        needs_grad = self.differentiable if needs_grad is None else needs_grad
        return [Variable(a, requires_grad=i in needs_grad) for i, a in enumerate(arrays)]

    @property
    def differentiable(self) -> tuple[int, ...]:
        """Indexes of the inputs that the op has a gradient for, by its rules."""
        real = [i for i, declared in enumerate(self.case.inputs) if declared.real]
        declared = getattr(self.op, "declared", None)
        if declared is None or declared.joint:
            return tuple(real)
        alone = declared.variadic and bool(declared.rules)
        return tuple(i for i in real if alone or self.case.names[i] in declared.rules)

    def run(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The op on Variables or arrays, as users call it; always a tuple of Variables."""
        self.restore_random_state()
        if hasattr(self.op, "call"):
            result = self.op.call(*inputs, **self.case.settings)
            return self._made(result if isinstance(result, tuple) else (result,))
        return self.apply(inputs)

    def apply(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The op through an instance and `apply`."""
        self.restore_random_state()
        return self._made(self.op(**self.case.settings).apply(tuple(inputs)))

    def _made(self, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        if any(y.array is None for y in outputs):
            raise AssertionError(f"{self.op.__name__}: expected to make arrays, got None")
        return outputs

    def restore_random_state(self) -> None:
        """Let the next run draw what the first one drew."""
        if self._random_state is not None:
            set_random_state(self._random_state)

    def outputs(self, dtype: str) -> list[Any]:
        """Outputs of a run without gradients, as arrays of the backend, checked to be such."""
        return [self.checked(y.array) for y in self.run(self.arrays(dtype))]

    def checked(self, array: Any) -> Any:
        """The array, if it is one of the backend (not a scalar, not another library's)."""
        if array is not None and not isinstance(array, self.backend.array_type):
            raise AssertionError(
                f"{self.op.__name__}: expected arrays of backend {self.backend.name!r}, got "
                f"{type(array).__name__}"
            )
        return array

    def cotangents(self, outputs: Sequence[Any]) -> list[Any]:
        """Arrays to start a backward from, or None, one an output; of several often one alone."""
        generator = np.random.default_rng(self.case.seed + 1)
        floating = [i for i, y in enumerate(outputs) if self._floating(y.array)]
        if len(floating) > 1 and self.case.seed % 2:  # half the cases: one output alone
            floating = [floating[self.case.seed // 2 % len(floating)]]
        return [
            self._cotangent(generator, y) if i in floating else None for i, y in enumerate(outputs)
        ]

    def _cotangent(self, generator: Any, y: Any) -> Any:
        # Half precision, so that every dtype starts from the same values.
        values = generator.uniform(0.5, 1.5, y.shape) * generator.choice((-1.0, 1.0), y.shape)
        name = self.name(y.array)
        return self.backend.asarray(np.asarray(np.asarray(values, "float16"), name))

    def gradients(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """Arrays, one per input that needs a gradient; None where no output depends on it."""
        pairs = [
            (y, Variable(g)) for y, g in zip(outputs, cotangents, strict=True) if g is not None
        ]
        pairs = [(y, g) for y, g in pairs if y.requires_grad]
        targets = [x for x in inputs if x.requires_grad]
        if not pairs:
            return [None] * len(targets)
        found = grad([y for y, _ in pairs], targets, [g for _, g in pairs])
        return [None if g is None else self.checked(g.array) for g in found]

    def run_with_gradients(self, dtype: str) -> tuple[list[Any], list[Any]]:
        """Arrays of the outputs and of the gradients of all differentiable inputs."""
        inputs = self.variables(self.arrays(dtype))
        outputs = self.run(inputs)
        cotangents = self.cotangents(outputs)
        return [y.array for y in outputs], self.gradients(inputs, outputs, cotangents)

    # -- looking -----------------------------------------------------------------------------------

    def host(self, array: Any) -> Any:
        """An array of the backend as a host array."""
        return self.backend.to_host(array)

    def name(self, array: Any) -> str:
        """The name of the dtype of an array."""
        found: str = self.backend.dtype_name(array.dtype)
        return found

    def _floating(self, array: Any) -> bool:
        return self.backend.kind(array.dtype) in "fV"

    def referred(self, dtype: str) -> list[Any] | None:
        """What the reference says, in float64, for the inputs as `dtype` holds them."""
        if self.reference is None:
            return None
        values = [
            a.astype("float64") if a.dtype.kind == "f" else a for a in self.case.arrays(dtype)
        ]
        with np.errstate(all="ignore"):
            result = self.reference(*values, **self.case.settings)
        results = result if isinstance(result, tuple) else (result,)
        return [np.asarray(y) for y in results]

    def snippet(self) -> str:
        """Python that makes this call again."""
        dtype = self.dtypes()[0]
        settings = ", ".join(f"{name}={value!r}" for name, value in self.case.settings.items())
        lines = [
            "import numpy as np, core",
            f"from {self.op.__module__} import {self.op.__qualname__}",
            f"backend = core.backend.get({self.backend.name!r})",
        ]
        for name, array in zip(self.case.names, self.case.arrays(dtype), strict=True):
            literal = np.array2string(array, separator=", ", threshold=200, floatmode="unique")
            lines.append(f"{name} = backend.asarray(np.array({literal}, {str(array.dtype)!r}))")
        lines.append(f"{self.op.__name__}({settings}).apply(({', '.join(self.case.names)},))")
        return "\n".join(lines)
