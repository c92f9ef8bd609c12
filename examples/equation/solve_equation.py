"""Solve a differential equation with a network: second derivatives of it are in the loss.

    python examples/equation/solve_equation.py             some seconds
    python examples/equation/solve_equation.py --resume    go on where a run was interrupted

The equation is that of a damped oscillator, u'' + 2 d u' + w² u = 0 with u(0) = 1 and u'(0) = 0.
The network knows no values of u inside the interval; what it is trained on is how far the equation
is from holding. The exact solution is only compared with in the end.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import core
import core.functions as F
import core.links as L
from core import optimizers, training
from core.errors import CoreError
from core.training import extensions

DAMPING, FREQUENCY, END = 0.3, 3.0, 3.0


def exact(t):
    """The solution, of which the network is told nothing."""
    w = np.sqrt(FREQUENCY**2 - DAMPING**2)
    return np.exp(-DAMPING * t) * (np.cos(w * t) + DAMPING / w * np.sin(w * t))


class Solution(core.Chain):
    """u(t) = 1 + t² N(t), which has the initial values that it should, whatever the network N."""

    def __init__(self, units=32):
        super().__init__()
        with self.init_scope():
            self.network = core.Sequential(
                L.Linear(1, units), F.sin, L.Linear(units, units), F.sin, L.Linear(units, 1)
            )

    def forward(self, t):
        return 1 + t**2 * self.network(t)

    def residual(self, t):
        """The left side of the equation at times t, (n, 1)."""
        t = core.Variable(t)
        u = self(t)
        (du,) = core.grad([F.sum(u)], [t], enable_double_backprop=True)
        (ddu,) = core.grad([F.sum(du)], [t], enable_double_backprop=True)
        return ddu + 2 * DAMPING * du + FREQUENCY**2 * u


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=3000, help="steps of the optimizer")
    parser.add_argument("--points", type=int, default=64, help="times at which it should hold")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights")
    parser.add_argument("--check", type=float, metavar="ERROR", help="fail above this error")
    return parser.parse_args()


def solve(arguments):
    model = Solution()
    model.to_device(arguments.backend)
    optimizer = optimizers.Adam(alpha=1e-2).setup(model)
    times = model.xp.asarray(np.linspace(0, END, arguments.points, dtype="f")[:, None])

    every = (max(1, arguments.iterations // 10), "iteration")
    run = training.Run(None, optimizer, (arguments.iterations, "iteration"), arguments.out)
    run.extend(extensions.CosineShift("alpha", arguments.iterations))
    run.extend(extensions.LogReport(trigger=every))
    run.extend(extensions.PrintReport(["iteration", "loss", "elapsed_time"]))
    run.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    with run:
        for _ in run:
            loss = F.mean(model.residual(times) ** 2)
            core.report({"loss": loss})
            optimizer.update(lambda loss=loss: loss)
    return model


def draw(times, found, path):
    """The solution found and the exact one, where Matplotlib is installed."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(times, exact(times), color="0.7", linewidth=5, label="exact")
    axes.plot(times, found, "--", label="network")
    axes.set(xlabel="t", ylabel="u")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    try:
        core.use(arguments.backend)
        model = solve(arguments)
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    times = np.linspace(0, END, 301, dtype="f")[:, None]
    with core.no_backprop_mode():
        found = core.cuda.to_cpu(model(model.xp.asarray(times)).array)
    error = float(np.abs(found - exact(times)).max())
    draw(times, found, f"{arguments.out}/solution.png")
    print(f"Largest error: {error:.1e}. Results are in {arguments.out}/.")
    if arguments.check is not None and not error <= arguments.check:
        return fail(f"expected an error of at most {arguments.check}")
    return 0


def fail(reason: object) -> int:
    print(f"solve_equation: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
