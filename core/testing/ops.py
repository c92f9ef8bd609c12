"""check_op: everything that is demanded of an op, in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st

from core.arrays.backend import get as get_backend
from core.errors import DeclarationError, nearest
from core.testing.backends import tried
from core.testing.checks import CHECKS, ON_EDGES, ON_EMPTY, refuses_second_derivative
from core.testing.gradient_check import NondifferentiableError
from core.testing.leaving_out import CHECKS as CHECK_NAMES
from core.testing.leaving_out import left_out
from core.testing.strategies import Case, cases, domain_of
from core.testing.tolerances import TABLE
from core.testing.trial import Trial


def check_op(
    op: Any,
    reference: Callable[..., Any] | None = None,
    backends: Iterable[str] | None = None,
    *,
    checks: Iterable[str] | None = None,
    kind: str | None = None,
    examples: int | None = None,
    shrink: bool = True,
) -> None:
    """Prove an op class from its domain; AssertionError, with a snippet, where it fails.

    Hypothesis draws inputs and settings from `op.domain`, and on each backend: the forward is
    compared with `reference`, gradients and second gradients with central differences, which an
    input without a rule does not change (or `leave_out={"gradient_x": "not differentiable"}` says
    so), and results in every floating dtype with float64; gradients on kinks are numbers; strided,
    empty, broadcast and 0-d inputs work; inputs are not written to; exactly the arrays that the
    rules name are retained; kernels equal the formula; backends equal NumPy; a repetition gives the
    same bits, and so does a trace (`core.trace`), in which a declared op calls nothing of NumPy's
    but by `xp`.

    Args:
        op: A FunctionNode class with a domain.
        reference: Takes host arrays (floats in float64) and the settings as keywords, and returns
            an array or a tuple of them. It should not be the op's own expression again.
        backends: Names; by default all that can be used here.
        checks: Names of the checks to make; by default all but those the domain leaves out.
        kind: Row of the table of tolerances; 'elementwise' or 'reduction' by default.
        examples: How many cases to draw; by default as many as Hypothesis's profile says.
        shrink: Whether a failing case is made small before it is shown.

    >>> import numpy as np
    >>> from core.functions import Multiply
    >>> check_op(Multiply, np.multiply, backends=["numpy"], examples=2)
    """
    domain = domain_of(op)
    wanted = _named_checks(op, checks)
    kind = kind or ("elementwise" if domain.elementwise else "reduction")
    if kind not in {name for name, _ in TABLE}:
        raise ValueError(f"check_op: no tolerances for ops of kind {kind!r}")
    for name in tried(backends):
        run = _Run(op, name, reference, kind, wanted)
        run.search(examples, shrink)


def _named_checks(op: Any, checks: Iterable[str] | None) -> list[str]:
    for name in checks or ():
        if name not in CHECK_NAMES:
            raise DeclarationError(
                f"check_op: there is no check {name!r}.{nearest(name, CHECK_NAMES)}"
            )
    out = left_out(op.domain)
    return [name for name in checks or CHECK_NAMES if name not in out]


class _Run:
    """The checks of one op on one backend."""

    def __init__(self, op: Any, backend: str, reference: Any, kind: str, wanted: list[str]) -> None:
        self._op = op
        self._backend = get_backend(backend)
        self._reference = reference
        self._kind = kind
        self._checks = wanted

    def search(self, examples: int | None, shrink: bool) -> None:
        budget = examples or settings().max_examples
        self._property(st.sampled_from(("plain", "plain", "plain", "edges")), budget, shrink)
        if "empty" in self._checks and self._op.domain.empty and self._can_be_empty():
            self._property(st.just("empty"), min(budget, max(3, budget // 5)), shrink)

    def _can_be_empty(self) -> bool:
        domain = self._op.domain
        signature = domain.signature
        return signature.elementwise or bool(
            signature.groups or [name for name in signature.names if name not in domain.dims]
        )

    def _property(self, kinds: Any, budget: int, shrink: bool) -> None:
        phases = [Phase.explicit, Phase.generate] + [Phase.shrink] * shrink

        @settings(
            max_examples=budget,
            derandomize=True,
            database=None,
            deadline=None,
            phases=phases,
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(kinds.flatmap(lambda kind: cases(self._op, kind)))
        def holds(case: Case) -> None:
            self._check(case)

        holds()

    def _check(self, case: Case) -> None:
        for name, check in self._chosen(case.kind):
            trial = Trial(case, self._backend, self._reference, self._kind)
            try:
                check(trial)
            except NondifferentiableError:
                reject()
            except Exception as error:
                error.add_note(f"check {name!r} of {self._op.__name__} on {self._backend.name}")
                error.add_note(f"Reproduce with:\n{trial.snippet()}")
                raise

    def _chosen(self, kind: str) -> list[tuple[str, Any]]:
        allowed = {"edges": ON_EDGES, "empty": ON_EMPTY}.get(kind, tuple(CHECKS))
        chosen = [(name, CHECKS[name]) for name in self._checks if name in allowed]
        if kind == "plain" and self._once_differentiable():
            chosen.append(("double_gradient", refuses_second_derivative))
        return chosen

    def _once_differentiable(self) -> bool:
        out = self._op.domain.leave_out
        return out.get("double_gradient") == "not differentiable" and "gradient" not in out
