"""Write what Chainer's link hooks make of a link: its output, gradient and singular vector.

Run it with the Python of an environment that has Chainer 7.8.1 (and NumPy 1):

    python tests/oracles/record_link_hooks.py tests/data/oracle/link_hooks.json

Each case has a link with its arguments, a hook with its own, the weight and the input, and what
came of three calls in training mode and one in testing. tests/link_hooks/test_link_hooks.py repeats
them.
"""

import inspect
import json
import sys
import warnings

import numpy as np

LINKS = {
    "Linear": ([3, 4], (4, 3), (2, 3)),
    "Convolution2D": ([2, 3, 2], (3, 2, 2, 2), (1, 2, 3, 3)),
    "Deconvolution2D": ([2, 3, 2], (2, 3, 2, 2), (1, 2, 2, 2)),
}
SETTINGS = {
    "SpectralNormalization": [
        {},
        {"n_power_iteration": 3, "eps": 0.1},
        {"factor": 2.0},
        {"use_gamma": True},
    ],
    "WeightStandardization": [{}, {"eps": 0.5}],
}


def values(shape, seed):
    """Numbers with few digits."""
    return np.round(np.random.RandomState(seed).normal(size=shape), 3)


def cases():
    """Each case without its results."""
    for hook, settings in SETTINGS.items():
        for arguments in settings:
            for link, (sizes, weight, x) in LINKS.items():
                yield {
                    "hook": hook,
                    "arguments": arguments,
                    "link": link,
                    "sizes": sizes,
                    "W": values(weight, 1).tolist(),
                    "u": values(weight[link == "Deconvolution2D"], 2).tolist(),
                    "x": values(x, 3).tolist(),
                }


def record(case):
    """What came of each call."""
    import chainer
    import chainer.link_hooks

    link = getattr(chainer.links, case["link"])(*case["sizes"], nobias=True)
    link.W.array = np.array(case["W"])
    hook = getattr(chainer.link_hooks, case["hook"])(**case["arguments"])
    link.add_hook(hook)
    if case["hook"] == "SpectralNormalization":
        link.W_u = np.array(case["u"])
    found = []
    for train in (True, True, True, False):
        with chainer.using_config("train", train):
            link.cleargrads()
            y = link(np.array(case["x"]))
            one = {"train": train, "y": y.array.tolist()}
            try:
                chainer.functions.sum(y * y).backward()
                one["gW"] = link.W.grad.tolist()
            except ValueError:  # a deconvolution's weight comes in the wrong shape
                print("no gradient:", case["hook"], case["link"])
        if case["hook"] == "SpectralNormalization":
            one["u"] = link.W_u.tolist()
        if case["arguments"].get("use_gamma"):
            one["gamma"] = float(link.gamma.array)
        found.append(one)
    return {**case, "calls": found}


def signatures():
    """The arguments of each hook."""
    import chainer
    import chainer.link_hooks

    return {
        name: str(inspect.signature(getattr(chainer.link_hooks, name)))
        for name in (*SETTINGS, "TimerHook")
    }


def main(path):
    """Record all."""
    warnings.simplefilter("ignore")
    lines = [json.dumps(record(case)) for case in cases()]
    with open(path, "w") as file:
        file.write('{"signatures": ' + json.dumps(signatures()))
        file.write(',\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main(sys.argv[1])
