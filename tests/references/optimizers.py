"""What optimizers do to one element, as loops over Python floats."""

import math


def sgd(theta, gradients, lr=0.01):
    for g in gradients:
        theta = theta - lr * g
        yield theta


def momentum_sgd(theta, gradients, lr=0.01, momentum=0.9):
    velocity = 0.0
    for g in gradients:
        velocity = momentum * velocity - lr * g
        theta = theta + velocity
        yield theta


def adam(
    theta,
    gradients,
    alpha=0.001,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    eta=1.0,
    decay=0.0,
    amsgrad=False,
    final_lr=None,
    gamma=0.001,
):
    m = v = largest = 0.0
    for t, g in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        largest = max(largest, v) if amsgrad else v
        rate = alpha * math.sqrt(1 - beta2**t) / (1 - beta1**t) / (math.sqrt(largest) + eps)
        if final_lr is not None:
            lower, upper = final_lr * (1 - 1 / (gamma * t + 1)), final_lr * (1 + 1 / (gamma * t))
            rate = min(max(rate, lower), upper)
        theta = theta - eta * (rate * m + decay * theta)
        yield theta


def adadelta(theta, gradients, rho=0.95, eps=1e-6):
    squares = changes = 0.0
    for g in gradients:
        squares = rho * squares + (1 - rho) * g * g
        change = math.sqrt(changes + eps) / math.sqrt(squares + eps) * g
        changes = rho * changes + (1 - rho) * change * change
        theta = theta - change
        yield theta


def adagrad(theta, gradients, lr=0.001, eps=1e-8):
    total = 0.0
    for g in gradients:
        total = total + g * g
        theta = theta - lr / (math.sqrt(total) + eps) * g
        yield theta


def corrected_momentum_sgd(theta, gradients, lr=0.01, momentum=0.9):
    velocity = 0.0
    for g in gradients:
        velocity = momentum * velocity - g
        theta = theta + lr * velocity
        yield theta


def corrected_nesterov_ag(theta, gradients, lr=0.01, momentum=0.9):
    velocity = 0.0
    for g in gradients:
        velocity = momentum * velocity + g
        theta = theta - lr * (g + momentum * velocity)
        yield theta


def nesterov_ag(theta, gradients, lr=0.01, momentum=0.9):
    velocity = 0.0
    for g in gradients:
        velocity = momentum * velocity - lr * g
        theta = theta + momentum**2 * velocity - (1 + momentum) * lr * g
        yield theta


def rmsprop(theta, gradients, lr=0.01, alpha=0.99, eps=1e-8, inside=False):
    square = 0.0
    for g in gradients:
        square = alpha * square + (1 - alpha) * g * g
        theta = theta - lr * g / (math.sqrt(square + eps) if inside else math.sqrt(square) + eps)
        yield theta


def rmsprop_graves(theta, gradients, lr=1e-4, alpha=0.95, momentum=0.9, eps=1e-4):
    square = mean = change = 0.0
    for g in gradients:
        square = alpha * square + (1 - alpha) * g * g
        mean = alpha * mean + (1 - alpha) * g
        change = momentum * change - lr * g / math.sqrt(square - mean * mean + eps)
        theta = theta + change
        yield theta


def smorms3(theta, gradients, lr=0.001, eps=1e-16):
    memory, mean, square = 1.0, 0.0, 0.0
    for g in gradients:
        r = 1 / (memory + 1)
        mean = (1 - r) * mean + r * g
        square = (1 - r) * square + r * g * g
        certainty = mean * mean / (square + eps)
        theta = theta - g * min(lr, certainty) / (math.sqrt(square) + eps)
        memory = 1 + memory * (1 - certainty)
        yield theta


def msvag(theta, gradients, lr=0.1, beta=0.9, eta=1.0, decay=0.0):
    m = v = 0.0
    for t, g in enumerate(gradients, 1):
        m = beta * m + (1 - beta) * g
        v = beta * v + (1 - beta) * g * g
        mean, square = m / (1 - beta**t), v / (1 - beta**t)
        rho = (1 - beta) * (1 + beta**t) / ((1 + beta) * (1 - beta**t))
        trust = 1.0
        if t > 1:
            variance = (square - mean**2) / (1 - rho)
            trust = mean**2 / (mean**2 + rho * variance)
        theta = theta - eta * (lr * trust * mean + decay * theta)
        yield theta


def radam(theta, gradients, alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-8, eta=1.0, decay=0.0):
    m = v = 0.0
    limit = 2 / (1 - beta2) - 1
    for t, g in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        now = limit - 2 * t * beta2**t / (1 - beta2**t)
        change = alpha * m / (1 - beta1**t)
        if now > 5:
            r = (now - 4) * (now - 2) * limit / (limit - 4) / (limit - 2) / now
            change *= math.sqrt(r) * math.sqrt(1 - beta2**t) / (math.sqrt(v) + eps)
        theta = theta - eta * (change + decay * theta)
        yield theta


def adamax(theta, gradients, alpha=0.002, beta1=0.9, beta2=0.999, eps=1e-8, eta=1.0, decay=0.0):
    m = u = 0.0
    for t, g in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * g
        u = max(beta2 * u, abs(g) + eps)
        theta = theta - eta * (alpha / (1 - beta1**t) * m / u + decay * theta)
        yield theta


def nadam(
    theta, gradients, alpha=0.002, beta1=0.9, beta2=0.999, eps=1e-8, eta=1.0, decay=0.0, psi=0.004
):
    m = v = 0.0
    momenta = [beta1 * (1 - 0.96 ** (t * psi) / 2) for t in range(1, len(gradients) + 2)]
    for t, g in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        of_gradient = (1 - momenta[t - 1]) / (1 - math.prod(momenta[:t]))
        of_moment = momenta[t] / (1 - math.prod(momenta[: t + 1]))
        change = alpha * (of_gradient * g + of_moment * m) / (math.sqrt(v / (1 - beta2**t)) + eps)
        theta = theta - eta * (change + decay * theta)
        yield theta


def lion(theta, gradients, lr=1e-4, beta1=0.9, beta2=0.99, decay=0.0):
    m = 0.0
    for g in gradients:
        theta = theta - lr * (math.copysign(1, beta1 * m + (1 - beta1) * g) + decay * theta)
        m = beta2 * m + (1 - beta2) * g
        yield theta


def lamb(theta, gradients, alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-6, decay=0.0):
    """The path of all elements of a parameter together."""
    m = v = [0.0] * len(theta)
    for t, grad in enumerate(gradients, 1):
        m = [beta1 * a + (1 - beta1) * g for a, g in zip(m, grad, strict=True)]
        v = [beta2 * a + (1 - beta2) * g * g for a, g in zip(v, grad, strict=True)]
        u = [
            a / (1 - beta1**t) / (math.sqrt(b / (1 - beta2**t)) + eps) + decay * x
            for a, b, x in zip(m, v, theta, strict=True)
        ]
        size, length = math.hypot(*theta), math.hypot(*u)
        ratio = size / length if size and length else 1.0
        theta = [x - alpha * ratio * y for x, y in zip(theta, u, strict=True)]
        yield theta
