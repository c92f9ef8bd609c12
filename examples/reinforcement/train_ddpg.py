"""Swing up a pendulum and hold it: a network that acts, and one that judges it (DDPG).

    python examples/reinforcement/train_ddpg.py             half a minute, on two cores
    python examples/reinforcement/train_ddpg.py --resume    go on where a run was interrupted

The motor is too weak to lift the pendulum at once. The critic tells from the state and the torque
what the future will cost; the actor gives the torque, and follows the critic's slope (Lillicrap et
al. 2015, arXiv:1509.02971). Both learn from a memory of steps, in random order, in one update:
towards what slower copies expect of the next state, and up the slope of the slower critic, which
has no gradients of its own. What is worst costs 1 if it lasts for ever, so that values lie between
-1 and 0. The figure that is checked is the mean return of 200 games that were not trained on, the
sum of their 200 rewards; a pendulum that hangs gets less than -1000, and -150 is good. `swing.png`
shows the angles of some of them over time, if Matplotlib is installed.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

import core
import core.functions as F
import core.links as L
from core import initializers, optimizers, training
from core.errors import CoreError
from core.training import extensions

DISCOUNT, STEPS, MEMORY, WORST = 0.98, 200, 20_000, math.pi**2 + 0.1 * 64 + 0.001 * 4


class Pendulum:
    """A rod that turns about its end, moved by a motor 20 times a second; 0 is upright.

    Its equation is that of a uniform rod of 1 m and 1 kg; speeds end at 8, torques at 2. A step
    costs the square of the angle, a tenth of that of the speed, a thousandth of the torque's.
    """

    def __init__(self):
        self.angle, self.speed, self.age = math.pi, 0.0, STEPS

    def reset(self, rng):
        self.angle, self.speed, self.age = rng.uniform(-math.pi, math.pi), rng.uniform(-1, 1), 0

    def step(self, torque):
        """Return what the step costs."""
        torque = min(max(float(torque), -2.0), 2.0)
        away = (self.angle + math.pi) % (2 * math.pi) - math.pi
        cost = away**2 + 0.1 * self.speed**2 + 0.001 * torque**2
        turn = 15 * math.sin(self.angle) + 3 * torque
        self.speed = min(max(self.speed + 0.05 * turn, -8.0), 8.0)
        self.angle, self.age = self.angle + 0.05 * self.speed, self.age + 1
        return cost

    @property
    def seen(self):
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed / 8], "f")

    @property
    def over(self):
        return self.age == STEPS

    def serialize(self, serializer):
        for name in ("angle", "speed", "age"):
            setattr(self, name, type(getattr(self, name))(serializer(name, getattr(self, name))))


def layers(inputs, units, *last):
    """The last layer begins near 0, lest the actor be at its limits, where nothing has a slope."""
    return core.Sequential(
        L.Linear(inputs, units),
        F.relu,
        L.Linear(units, units),
        F.relu,
        L.Linear(units, 1, initialW=initializers.Uniform(3e-3)),
        *last,
    )


class Player(core.Chain):
    """The actor, the critic, and their slower copies; the game, and its past."""

    def __init__(self, units=64):
        super().__init__()
        with self.init_scope():
            self.actor, self.critic = layers(3, units, F.tanh), layers(4, units)
            self.slow_actor = self.actor.copy(mode="copy")
            self.slow_critic = self.critic.copy(mode="copy")
        for slow in (self.slow_actor, self.slow_critic):
            slow.disable_update()
        # Persistent values are saved with the parameters, so that a resumed run has them again.
        self.add_persistent("memory", np.zeros((MEMORY, 8), "f"))
        self.game = Pendulum()

    def serialize(self, serializer):
        super().serialize(serializer)
        self.game.serialize(serializer["game"])

    def act(self, states):
        """The pushes, from -1 to 1, in some states, (n, 3); torques are twice that."""
        with core.using_config("train", False), core.no_backprop_mode():
            return core.cuda.to_cpu(self.actor(self.xp.asarray(states)).array)[:, 0]

    def remember(self, place, state, push, following, cost):
        row = np.concatenate([state, [push], following, [cost / WORST]])
        self.memory[place % MEMORY] = self.xp.asarray(row.astype("f"))

    def follow(self, rate=0.02):
        """Move the slow networks a little towards the others."""
        for slow, fast in ((self.slow_actor, self.actor), (self.slow_critic, self.critic)):
            for a, b in zip(slow.params(), fast.params(), strict=True):
                a.array += rate * (b.array - a.array)

    def loss(self, places):
        rows = self.memory[self.xp.asarray(places)]
        state, tried, following, cost = rows[:, :3], rows[:, :4], rows[:, 4:7], rows[:, 7:]
        with core.no_backprop_mode():
            pushes = self.slow_actor(following)
            later = self.slow_critic(F.concat([following, pushes], axis=1)).array
        # Hopes beyond the best there is, or fears below the worst, would feed themselves.
        wanted = self.xp.clip(DISCOUNT * later - (1 - DISCOUNT) * cost, -1, 0)
        error = F.mean_squared_error(self.critic(tried), wanted)
        value = F.mean(self.slow_critic(F.concat([state, self.actor(state)], axis=1)))
        core.report({"error": error, "value": value}, self)
        return error - value


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=6_000, help="steps to learn from")
    parser.add_argument("--batchsize", type=int, default=64, help="remembered steps in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, games and draws")
    parser.add_argument("--check", type=float, metavar="RETURN", help="fail below this return")
    return parser.parse_args()


def learn(player, arguments):
    """Play and learn."""
    optimizer = optimizers.Adam(alpha=1e-3).setup(player)
    every = (max(1, arguments.iterations // 10), "iteration")
    run = training.Run(None, optimizer, (arguments.iterations, "iteration"), arguments.out)
    run.extend(extensions.CosineShift("alpha", arguments.iterations))
    run.extend(extensions.LogReport(trigger=every))
    columns = ["iteration", "main/error", "main/value", "cost", "elapsed_time"]
    run.extend(extensions.PrintReport(columns))
    run.extend(extensions.ProgressBar(update_interval=100))
    run.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    game = player.game
    with run:
        for _ in run:
            step = run.updater.iteration
            if game.over:
                game.reset(np.random)
            state = game.seen
            explore = max(0.1, 1 - step / (0.3 * arguments.iterations))
            push = float(
                np.clip(player.act(state[None]).item() + explore * np.random.randn(), -1, 1)
            )
            cost = game.step(2 * push)
            player.remember(step, state, push, game.seen, cost)
            core.report({"cost": cost})
            known = min(step + 1, MEMORY)
            optimizer.update(player.loss, np.random.randint(known, size=arguments.batchsize))
            player.follow()


def play(player, n):
    """Returns and angles, (STEPS, n), of n games side by side, the same for every seed."""
    rng, games = np.random.default_rng(0), [Pendulum() for _ in range(n)]
    for game in games:
        game.reset(rng)
    returns, angles = np.zeros(n), []
    for _ in range(STEPS):
        pushes = player.act(np.stack([game.seen for game in games]))
        returns -= [game.step(2 * push) for game, push in zip(games, pushes, strict=True)]
        angles.append([game.angle for game in games])
    return returns, np.array(angles)


def draw(angles, path):
    """Angles over time; a multiple of a whole turn is upright."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot(np.arange(1, STEPS + 1) / 20, angles / (2 * math.pi), linewidth=1)
    axes.set(xlabel="seconds", ylabel="turns from upright")
    figure.savefig(path, dpi=150)


def main() -> int:
    arguments = parse_arguments()
    core.seed(arguments.seed)
    np.random.seed(arguments.seed)
    player = Player()
    try:
        core.use(arguments.backend)
        player.to_device(arguments.backend)
        learn(player, arguments)
    except (CoreError, OSError, ValueError) as error:
        return fail(error)
    returns, angles = play(player, 200)
    draw(angles[:, :12], f"{arguments.out}/swing.png")
    mean = returns.mean()
    print(f"Mean return: {mean:.0f}. Results are in {arguments.out}/.")
    if arguments.check is not None and mean < arguments.check:
        return fail(f"expected at least a mean return of {arguments.check}")
    return 0


def fail(reason: object) -> int:
    print(f"train_ddpg: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
