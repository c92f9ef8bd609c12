"""A learner of actions as written for version 5: a target network, an own loop, replayed steps."""

import collections
import copy
import random
import sys

import chainer
import numpy as np
from chainer import functions as F
from chainer import links as L


class QFunction(chainer.Chain):
    def __init__(self, obs_size, n_actions, n_units=12):
        super().__init__()
        with self.init_scope():
            self.l0 = L.Linear(obs_size, n_units)
            self.l1 = L.Linear(n_units, n_units)
            self.l2 = L.Linear(n_units, n_actions, initialW=chainer.initializers.HeNormal(0.1))

    def forward(self, x):
        h = F.relu(self.l0(x))
        h = F.relu(self.l1(h))
        return self.l2(h)


class Corridor:
    """Five places in a row; the last one gives 1."""

    def reset(self):
        self.place = 0
        return self.observe()

    def observe(self):
        return np.eye(5, dtype=np.float64)[self.place]

    def step(self, action):
        self.place = max(0, min(4, self.place + (1 if action else -1)))
        done = self.place == 4
        return self.observe(), float(done), done


def get_greedy_action(Q, obs):
    obs = Q.xp.asarray(obs[None], dtype=np.float32)
    with chainer.no_backprop_mode():
        q = Q(obs).array[0]
    return int(q.argmax())


def mean_clipped_loss(y, t):
    return F.mean(F.huber_loss(y, t, delta=1.0, reduce="no"))


def update(Q, target_Q, opt, samples, gamma=0.95):
    xp = Q.xp
    obs = xp.asarray([sample[0] for sample in samples], dtype=np.float32)
    action = xp.asarray([sample[1] for sample in samples], dtype=np.int32)
    reward = xp.asarray([sample[2] for sample in samples], dtype=np.float32)
    done = xp.asarray([sample[3] for sample in samples], dtype=np.float32)
    obs_next = xp.asarray([sample[4] for sample in samples], dtype=np.float32)
    y = F.select_item(Q(obs), action)
    with chainer.no_backprop_mode():
        next_q = F.max(target_Q(obs_next), axis=1)
        target = reward + gamma * (1 - done) * next_q.array
    loss = mean_clipped_loss(y[:, None], target[:, None])
    Q.cleargrads()
    loss.backward()
    opt.update()
    return float(loss.array)


env = Corridor()
D = collections.deque(maxlen=200)
Q = QFunction(5, 2)
target_Q = copy.deepcopy(Q)
opt = chainer.optimizers.Adam(eps=1e-2)
opt.setup(Q)
losses, iteration = [], 0
for _ in range(12):
    obs, done, steps = env.reset(), False, 0
    while not done and steps < 15:
        epsilon = max(0.1, 1 - iteration / 100)
        if np.random.rand() < epsilon:  # noqa: SIM108 - as it was written
            action = random.randrange(2)
        else:
            action = get_greedy_action(Q, obs)
        new_obs, reward, done = env.step(action)
        D.append((obs, action, reward, done, new_obs))
        obs = new_obs
        if len(D) >= 20:
            losses.append(update(Q, target_Q, opt, random.sample(list(D), 10)))
        if iteration % 20 == 0:
            target_Q.copyparams(Q)
        iteration += 1
        steps += 1

chainer.serializers.save_npz(sys.argv[1] + "/q.npz", Q)
np.savez(sys.argv[1] + "/losses.npz", losses=losses)
