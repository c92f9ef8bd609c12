"""Programs whose threads do everything first together, run in a process of their own each.

    python tests/threads_first.py facades | operators | links | models | iterator | optuna

They need no test library, so that they run under any interpreter that plugrad is installed for.
"""

import random
import sys
import threading
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

THREADS = 8


def together(*works):
    """What the functions give, each called in a thread of its own and all at the same moment."""
    barrier = threading.Barrier(len(works))
    results, errors = [None] * len(works), []

    def run(i, work):
        try:
            barrier.wait()
            results[i] = work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def facades():
    """Every name of every facade, in another order in each thread: all see the same objects."""
    from core.registry.kinds import FACADES

    def names(seed):
        found = {}
        modules = list(FACADES.values())
        random.Random(seed).shuffle(modules)
        for name in modules:
            module = import_module(name)
            listed = [each for each in dir(module) if not each.startswith("_")]
            random.Random(seed).shuffle(listed)
            for each in listed:
                found[name, each] = getattr(module, each)
        return found

    first, *others = together(*[lambda seed=seed: names(seed) for seed in range(THREADS)])
    assert len(first) > 300
    for other in others:
        assert other.keys() == first.keys()
        assert all(other[key] is first[key] for key in first)


def operators():
    """The first operators of all, another in each thread."""
    import core

    x = core.Variable(np.arange(1, 5, dtype="f"))
    works = [
        lambda: x + 1,
        lambda: 2 - x,
        lambda: x @ x,
        lambda: x[1:],
        lambda: x > 2,
        lambda: -x,
        lambda: x.reshape(2, 2),
        lambda: np.exp(x),
        lambda: core.Parameter(core.Domain and x.array),
    ]
    for mine, work in zip(together(*works), works, strict=True):
        np.testing.assert_array_equal(mine.array, work().array)


def links():
    """Links that are sized by the first call: their arrays are drawn once, for all threads."""
    import core
    import core.links as L

    x, images = np.ones((3, 4), "f"), np.ones((2, 4, 6, 6), "f")
    makers = [
        lambda: (L.Linear(None, 5), x),
        lambda: (L.LayerNormalization(), x),
        lambda: (L.RMSNormalization(), x),
        lambda: (L.BatchNormalization(), x),
        lambda: (L.GroupNormalization(2), images),
        lambda: (L.Convolution2D(None, 3, 3), images),
        lambda: (L.Deconvolution2D(None, 3, 3), images),
        lambda: (L.DepthwiseConvolution2D(None, 2, 3), images),
        lambda: (L.LocalConvolution2D(None, 3, None, 3), images),
        lambda: (L.Swish(None), x),
        lambda: (L.StatelessLSTM(None, 5), x),
        lambda: (L.NStepLSTM(2, None, 5, 0.0), [x, x]),
    ]

    def called(link, x):
        with core.using_config("train", False):
            if isinstance(link, L.NStepLSTM):
                return link(None, None, x)[2][0].array
            if isinstance(link, L.StatelessLSTM):
                return link(None, None, x)[1].array
            return link(x).array

    for make in makers:
        core.seed(1)
        link, given = make()
        results = together(*[lambda: called(link, given)] * THREADS)  # noqa: B023
        core.seed(1)
        alone, given = make()
        expected = called(alone, given)
        for result in results:
            np.testing.assert_array_equal(result, expected, err_msg=type(link).__name__)
        for (path, mine), (_, theirs) in zip(
            sorted(link.namedparams()), sorted(alone.namedparams()), strict=True
        ):
            np.testing.assert_array_equal(mine.array, theirs.array, err_msg=path)


def trained(seed, steps=15):
    """The parameters of a small model after some steps; the first call sizes it."""
    import core
    import core.functions as F
    import core.links as L
    from core import optimizer_hooks, optimizers

    draw = np.random.RandomState(seed)

    def drawn(array):
        array[...] = draw.standard_normal(array.shape) / 4

    model = core.Sequential(
        L.Linear(None, 16, initialW=drawn),
        L.BatchNormalization(),
        F.relu,
        L.Linear(None, 16, initialW=drawn),
        L.LayerNormalization(),
        F.tanh,
        L.Linear(None, 3, initialW=drawn),
    )
    method = [optimizers.Adam, optimizers.MomentumSGD, optimizers.RMSprop, optimizers.AdaGrad]
    optimizer = method[seed % 4]().setup(model)
    optimizer.add_hook(optimizer_hooks.WeightDecay(1e-3))
    x, t = draw.standard_normal((20, 6)).astype("f"), draw.randint(0, 3, 20).astype("i")
    for step in range(steps):
        rows = slice(step % 4, None, 2)
        optimizer.update(lambda rows=rows: F.softmax_cross_entropy(model(x[rows]), t[rows]))
    with core.using_config("train", False), core.no_backprop_mode():
        return [model(x).array, *[p.array for _, p in sorted(model.namedparams())]]


def models():
    """As many models as threads: the bits are those of one after the other."""
    at_once = together(*[lambda seed=seed: trained(seed) for seed in range(THREADS)])
    for seed, arrays in enumerate(at_once):
        for mine, theirs in zip(arrays, trained(seed), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def codes():
    """Without a lock no function gets another code in its first call: others may be calling it."""
    import core
    from core.errors.keywords import checked_when_called

    def plain(x, *, times: int = 1):
        return x * times

    late = checked_when_called(plain)
    functions = [core.grad, core.Variable.sum, core.Variable.__init__, core.Link.add_hook, late]
    before = [function.__code__ for function in functions]
    x = core.Variable(np.ones(2, "f"))
    core.grad([x.sum()], [x])
    core.Link().add_hook(core.LinkHook())
    assert late("a", times=2) == "aa"
    after = [function.__code__ for function in functions]
    stay = [mine is theirs for mine, theirs in zip(before, after, strict=True)]
    assert stay == [not locked()] * 5


class Rectified:
    """A dataset whose examples are computed by functions."""

    def __len__(self):
        return 200

    def __getitem__(self, i):
        import core.functions as F

        x = np.linspace(-1, 1, 5 + i % 7, dtype="f")
        return float(F.sum(F.leaky_relu(F.broadcast_to(x * i, (2, x.size)), 0.1)).array)


def iterator():
    """Examples that threads of an iterator compute by functions that nobody has called before."""
    from core import iterators

    loaded = iterators.MultithreadIterator(
        Rectified(), 20, repeat=False, shuffle=False, n_threads=THREADS
    )
    found = [example for batch in loaded for example in batch]
    assert found == [Rectified()[i] for i in range(200)]


def optuna():
    """A study with several jobs at once finds what one job finds."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def studied(jobs):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))
        for seed in range(6):
            study.enqueue_trial({"seed": seed})

        def objective(trial):
            return float(trained(trial.suggest_int("seed", 0, 5))[0].sum())

        study.optimize(objective, n_trials=6, n_jobs=jobs)
        return {trial.params["seed"]: trial.value for trial in study.trials}

    at_once = studied(2)
    assert len(at_once) == 6 and at_once == studied(1)


def locked():
    """Whether threads have a global lock."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.setswitchinterval(1e-6)  # threads take turns at every opportunity
    globals()[sys.argv[1]]()
    print("GIL" if locked() else "no GIL")
