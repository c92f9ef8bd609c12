"""What is trained besides a network: a policy by rewards, a network by its older self, an image."""

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import optimizers

np.random.seed(0)
states = np.random.randn(32, 4).astype("f")

# Q-learning, with a target network that is synchronised now and then
q = chainer.Sequential(L.Linear(4, 16), F.relu, L.Linear(16, 3))
target = q.copy(mode="init")
target.copyparams(q)
optimizer = optimizers.RMSpropGraves(0.01)
optimizer.setup(q)
optimizer.add_hook(chainer.optimizer.GradientClipping(1.0))
actions = np.random.randint(0, 3, 32).astype("i")
rewards = (actions == 1).astype("f")
for step in range(300):
    with chainer.no_backprop_mode():
        best = F.max(target(states[::-1].copy()), axis=1)
    y = F.select_item(q(states), actions)
    wanted = chainer.Variable(rewards + np.float32(0.5) * best.data)
    errors = F.huber_loss(F.expand_dims(y, 1), F.expand_dims(wanted, 1), 1.0)
    loss = F.sum(errors) / len(states)
    q.cleargrads()
    loss.backward()
    optimizer.update()
    if step % 10 == 0:
        target.copyparams(q)
assert (q(states).data.argmax(axis=1) == 1).mean() > 0.8
assert target[0].W is not q[0].W

# A policy gradient
policy = chainer.Sequential(L.Linear(4, 3))
optimizer = optimizers.Adam(0.05).setup(policy)
for _ in range(60):
    log_p = F.log_softmax(policy(states))
    p = np.exp(log_p.data.astype("d"))
    actions = np.array([np.random.choice(3, p=row / row.sum()) for row in p], "i")
    rewards = (actions == 2).astype("f")
    chosen = F.select_item(log_p, actions)
    entropy = -F.sum(F.exp(log_p) * log_p)
    loss = -F.sum(chosen * (rewards - rewards.mean())) / len(states) - 1e-4 * entropy
    policy.cleargrads()
    loss.backward()
    optimizer.update()
assert rewards.mean() > 0.8

# An image whose features match another's, by a network that stays as it is
net = chainer.Sequential(L.Convolution2D(3, 4, 3, pad=1), F.relu)
net.disable_update()


def gram(x):
    y = F.reshape(net(x), (4, -1))
    return F.matmul(y, y, transb=True) / np.float32(y.size)


style = gram(np.random.rand(1, 3, 8, 8).astype("f")).data
image = chainer.Link()
with image.init_scope():
    image.x = chainer.Parameter(np.random.rand(1, 3, 8, 8).astype("f"))
optimizer = optimizers.Adam(alpha=0.02)
optimizer.setup(image)
before, losses = net[0].W.data.copy(), []
for _ in range(30):
    loss = chainer.Variable(np.zeros((), "f"))
    loss += 100 * F.mean_squared_error(gram(image.x), chainer.Variable(style))
    image.cleargrads()
    loss.backward()
    optimizer.update()
    image.x.data = np.clip(image.x.data, 0, 1)
    losses.append(float(loss.data))
assert losses[-1] < 0.3 * losses[0], losses
assert np.array_equal(net[0].W.data, before)
