"""Inverse square roots of matrices, differentiable to any order also where eigenvalues meet.

With S = A^(-1/2) and X = A^(1/2), a change of A changes S by the D that solves
X D + D X = -S dA S. That equation has one solution, whether eigenvalues are equal or not, and its
solution's derivatives are solutions of such equations again: two operations are all it takes.
"""

from __future__ import annotations

from typing import Any

from core import Domain, FunctionNode, real


def positive_definite(xp: Any, values: Any) -> Any:
    """Drawn matrices times their transposes, moved away from singular ones."""
    n = values.shape[-1]
    return xp.matmul(values, xp.matrix_transpose(values)) + xp.eye(n, dtype=values.dtype)


def _symmetric(xp: Any, a: Any) -> Any:
    return (a + xp.matrix_transpose(a)) * 0.5


class InverseSquareRoot(FunctionNode):
    """S with S S A = 1, of the symmetric part of A, which has to be positive definite."""

    wide = True
    domain = Domain(
        "(g,n,n)->(g,n,n)",
        A=real(-1, 1, make=positive_definite),
        dims={"g": (1, 2), "n": (1, 3)},
    )

    def compute(self, xp, A):
        values, vectors = xp.linalg.eigh(_symmetric(xp, A))
        scaled = vectors / xp.sqrt(values)[:, None, :]
        return xp.matmul(scaled, xp.matrix_transpose(vectors))

    def gradient(self, xp, g, A, out):
        X = xp.matmul(_symmetric(xp, A), out)
        D = Lyapunov().evaluate(X, _symmetric(xp, g))
        return -xp.matmul(xp.matmul(out, D), out)


class Lyapunov(FunctionNode):
    """P with X P + P X = Q, X being symmetric and positive definite."""

    wide = True
    domain = Domain(
        "(g,n,n),(g,n,n)->(g,n,n)",
        X=real(-1, 1, make=positive_definite),
        Q=real(-2, 2),
        dims={"g": (1, 2), "n": (1, 3)},
    )

    def compute(self, xp, X, Q):
        values, vectors = xp.linalg.eigh(_symmetric(xp, X))
        back = xp.matrix_transpose(vectors)
        inner = xp.matmul(xp.matmul(back, Q), vectors)
        inner = inner / (values[:, :, None] + values[:, None, :])
        return xp.matmul(xp.matmul(vectors, inner), back)

    def gradient_X(self, xp, g, X, out):
        D, P = Lyapunov().evaluate(X, g), xp.matrix_transpose(out)
        return -_symmetric(xp, xp.matmul(D, P) + xp.matmul(P, D))

    def gradient_Q(self, xp, g, X):
        return Lyapunov().evaluate(X, g)
