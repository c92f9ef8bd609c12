"""Balance a pole on a cart: Q-learning by a network, from what happened before (DQN).

    python examples/reinforcement/train_dqn.py             a minute, on two cores
    python examples/reinforcement/train_dqn.py --resume    go on where a run was interrupted

The network tells from the state of the cart what each push will bring (Mnih et al. 2015,
doi:10.1038/nature14236). It learns from a memory of steps, in random order, towards what a second,
slower network expects of the next state; the push is chosen by one network and valued by the other
(van Hasselt et al. 2016, arXiv:1509.06461). A step costs a hundredth at most, by how far the cart
is from the middle and the pole from upright; a fall costs 1, which is as much as the worst step for
ever after. So values lie between -1 and 0, and a network begins near those of a pole that stands.
The figure that is checked is for how many steps of 200 it stands, on average of 200 other games.
`standing.png` shows cart and pole in some of them, if Matplotlib is installed.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

import core
import core.functions as F
import core.links as L
from core import optimizers, training
from core.errors import CoreError
from core.training import extensions

DISCOUNT, STEPS, MEMORY = 0.99, 200, 20_000
LIMITS = np.array([2.4, 2.0, math.radians(12), 2.0])  # of place and angle; speeds are about that


class CartPole:
    """A cart with a pole on it, pushed to the left (0) or right (1) 50 times a second.

    Source: Barto, Sutton and Anderson 1983, doi:10.1109/TSMC.1983.6313077, without friction.
    """

    def __init__(self):
        self.state, self.age = np.zeros(4), STEPS

    def reset(self, rng):
        self.state, self.age = rng.uniform(-0.05, 0.05, 4), 0

    def step(self, push):
        x, v, angle, spin = self.state
        force, length, pole, total = (10.0 if push else -10.0), 0.5, 0.1, 1.1
        sin, cos = math.sin(angle), math.cos(angle)
        pushed = (force + pole * length * spin**2 * sin) / total
        turn = (9.8 * sin - cos * pushed) / (length * (4 / 3 - pole * cos**2 / total))
        rates = np.array([v, pushed - pole * length * turn * cos / total, spin, turn])
        self.state, self.age = self.state + 0.02 * rates, self.age + 1

    @property
    def seen(self):
        """The state, in numbers of about 1."""
        return (self.state / LIMITS).astype("f")

    @property
    def fallen(self):
        return bool((np.abs(self.state) > LIMITS)[::2].any())

    @property
    def over(self):
        """Whether the pole has fallen, or stood for long enough."""
        return self.fallen or self.age == STEPS

    def serialize(self, serializer):
        self.state = serializer("state", self.state)
        self.age = int(serializer("age", self.age))


class Player(core.Chain):
    """What each push is worth, by a network and by the slower one; the game, and its past."""

    def __init__(self, units=64):
        super().__init__()
        with self.init_scope():
            self.values = core.Sequential(
                L.Linear(4, units), F.relu, L.Linear(units, units), F.relu, L.Linear(units, 2)
            )
            self.slow = self.values.copy(mode="copy")
            self.slow.disable_update()
        # Persistent values are saved with the parameters, so that a resumed run has them again.
        self.add_persistent("memory", np.zeros((MEMORY, 10), "f"))
        self.game = CartPole()

    def serialize(self, serializer):
        super().serialize(serializer)
        self.game.serialize(serializer["game"])

    def choose(self, states):
        """The pushes that are worth most in some states, (n, 4)."""
        with core.using_config("train", False), core.no_backprop_mode():
            return core.cuda.to_cpu(self.values(self.xp.asarray(states)).array.argmax(axis=1))

    def remember(self, place, state, push, following, fallen):
        row = np.concatenate([state, [push], following, [fallen]])
        self.memory[place % MEMORY] = self.xp.asarray(row.astype("f"))

    def follow(self, rate=0.02):
        """Move the slow network a little towards the other one."""
        for slow, fast in zip(self.slow.params(), self.values.params(), strict=True):
            slow.array += rate * (fast.array - slow.array)

    def loss(self, places):
        rows = self.memory[self.xp.asarray(places)]
        state, push, following = rows[:, :4], rows[:, 4].astype("i"), rows[:, 5:9]
        fallen, cost = rows[:, 9], self.xp.mean(following[:, ::2] ** 2, axis=1)
        with core.no_backprop_mode():
            best = self.values(following).array.argmax(axis=1).astype("i")
            later = F.select_item(self.slow(following), best).array
        # Hopes beyond the best there is, or fears below the worst, would feed themselves.
        ahead = self.xp.clip(DISCOUNT * later - (1 - DISCOUNT) * cost, -1, 0)
        wanted = ahead * (1 - fallen) - fallen
        loss = F.mean(F.huber_loss(F.select_item(self.values(state), push), wanted, 1.0, "no"))
        core.report({"loss": loss}, self)
        return loss


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=15_000, help="pushes to learn from")
    parser.add_argument("--batchsize", type=int, default=64, help="remembered steps in a batch")
    parser.add_argument("--out", default="result", help="directory of the results")
    parser.add_argument("--resume", action="store_true", help="go on from the newest in --out")
    parser.add_argument("--backend", default="numpy", help="numpy, or cuda for a GPU")
    parser.add_argument("--seed", type=int, default=0, help="fixes weights, games and draws")
    parser.add_argument("--check", type=float, metavar="STEPS", help="fail below these steps")
    return parser.parse_args()


def learn(player, arguments):
    """Play and learn."""
    optimizer = optimizers.Adam(alpha=5e-4).setup(player)
    every = (max(1, arguments.iterations // 10), "iteration")
    run = training.Run(None, optimizer, (arguments.iterations, "iteration"), arguments.out)
    run.extend(extensions.CosineShift("alpha", arguments.iterations))
    run.extend(extensions.LogReport(trigger=every))
    run.extend(extensions.PrintReport(["iteration", "main/loss", "steps", "elapsed_time"]))
    run.extend(extensions.ProgressBar(update_interval=100))
    run.extend(extensions.snapshot(n_retains=1, autoload=arguments.resume), trigger=every)
    game = player.game
    with run:
        for _ in run:
            step = run.updater.iteration
            if game.over:
                game.reset(np.random)
            state = game.seen
            explore = max(0.05, 1 - step / (0.3 * arguments.iterations))
            push = (
                np.random.randint(2)
                if np.random.rand() < explore
                else player.choose(state[None]).item()
            )
            game.step(push)
            player.remember(step, state, push, game.seen, game.fallen)
            if game.over:
                core.report({"steps": game.age})
            known = min(step + 1, MEMORY)
            optimizer.update(player.loss, np.random.randint(known, size=arguments.batchsize))
            player.follow()


def play(player, n):
    """For how many steps the pole stands in n games side by side, and their states, (STEPS, n, 4).

    They are the same games for every seed. Where one is over, its state stays as it is.
    """
    rng, games, states = np.random.default_rng(0), [CartPole() for _ in range(n)], []
    for game in games:
        game.reset(rng)
    for _ in range(STEPS):
        pushes = player.choose(np.stack([game.seen for game in games]))
        for game, push in zip(games, pushes, strict=True):
            if not game.over:
                game.step(push)
        states.append([game.state for game in games])
    return np.array([game.age for game in games]), np.array(states)


def draw(states, path):
    """Where the cart is, and how the pole leans, over time."""
    if not extensions.PlotReport.available():
        return
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    times = np.arange(1, STEPS + 1) / 50
    above.plot(times, states[..., 0], linewidth=1)
    above.set(ylabel="cart (m)")
    below.plot(times, np.degrees(states[..., 2]), linewidth=1)
    below.set(xlabel="seconds", ylabel="pole (degrees)")
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
    steps, states = play(player, 200)
    draw(states[:, :12], f"{arguments.out}/standing.png")
    mean = steps.mean()
    print(f"The pole stands for {mean:.1f} of {STEPS} steps. Results are in {arguments.out}/.")
    if arguments.check is not None and mean < arguments.check:
        return fail(f"expected at least {arguments.check} steps")
    return 0


def fail(reason: object) -> int:
    print(f"train_dqn: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
