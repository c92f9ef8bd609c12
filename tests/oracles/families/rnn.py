"""Cases of recurrent layers over sequences of falling length."""

from oracles.cases import Family, real

CASES = Family()
add = CASES.add
UNITS, SIZE = 2, 3


def weights(layers, directions, count):
    """Weights and biases of all layers, each direction of a layer on its own."""
    ws = []
    for i in range(layers * directions):
        below = SIZE if i < directions else UNITS * directions
        half = count // 2
        ws.append([real(UNITS, n) for n in (below,) * half + (UNITS,) * half])
    return ws, [[real(UNITS) for _ in range(count)] for _ in range(layers * directions)]


for kind, count, states, more in (
    ("lstm", 8, 2, {}),
    ("gru", 6, 1, {}),
    ("rnn", 2, 1, {}),
    ("rnn", 2, 1, {"activation": "relu"}),
):
    for directions, name in ((1, f"n_step_{kind}"), (2, f"n_step_bi{kind}")):
        for layers, batches in ((1, (3, 3)), (2, (3, 2, 1)), (2, (2,))):
            ws, bs = weights(layers, directions, count)
            xs = [real(n, SIZE) for n in batches]
            first = [real(layers * directions, batches[0], UNITS)] * states
            add(name, layers, 0.0, *first, ws, bs, xs, **more)
            if layers == 2:
                add(name, layers, 0.4, *first, ws, bs, xs, **more)
            else:
                add(name, layers, 0.5, *first, ws, bs, xs, config={"train": False}, **more)
