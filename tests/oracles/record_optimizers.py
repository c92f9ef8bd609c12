"""Write what Chainer's optimizers and hooks do to parameters, step by step.

Run it with the Python of an environment that has Chainer 7.8.1 (and NumPy 1):

    python tests/oracles/record_optimizers.py tests/data/oracle/optimizers.json

Each case of the file says all that it takes to repeat it: the optimizer with its arguments, hooks,
and what is changed before which step. tests/optimizers/test_trajectories.py repeats them.
"""

import json
import sys
import warnings

import numpy as np

STEPS = 10
START = [[0.5, -1.5], [[2.0, -0.25]]]
HOOKS = {
    "WeightDecay": [0.1],
    "Lasso": [0.05],
    "GradientClipping": [0.7],
    "GradientHardClipping": [-0.4, 0.6],
    "GradientLARS": [0.1, 0.02, 1e-3],
    "GradientNoise": [0.3],
}
FOR_ALL_PARAMETERS = ["GradientClipping"]  # makes no sense at the rule of one
SETTINGS = {
    "AdaDelta": [{}, {"rho": 0.5, "eps": 1e-2}],
    "AdaGrad": [{}, {"lr": 0.3, "eps": 1e-2}],
    "Adam": [
        {},
        {"alpha": 0.1, "beta1": 0.5, "beta2": 0.8, "eps": 1e-3},
        {"eta": 0.5, "weight_decay_rate": 0.1},
        {"alpha": 0.1, "beta2": 0.2, "amsgrad": True},
        {"adabound": True, "final_lr": 0.05, "gamma": 0.5},
        {"amsgrad": True, "adabound": True, "beta2": 0.2, "weight_decay_rate": 0.2, "eta": 0.3},
    ],
    "AdamW": [{}, {"alpha": 0.1, "eta": 0.5, "weight_decay_rate": 0.05}],
    "AMSGrad": [{}, {"alpha": 0.1, "beta2": 0.2, "eta": 0.5}],
    "AdaBound": [{}, {"final_lr": 0.02, "gamma": 0.3, "eps": 1e-3, "eta": 0.5}],
    "AMSBound": [{}, {"alpha": 0.1, "beta2": 0.2, "final_lr": 0.02, "gamma": 0.3, "eta": 0.5}],
    "CorrectedMomentumSGD": [{}, {"lr": 0.1, "momentum": 0.5}],
    "MomentumSGD": [{}, {"lr": 0.1, "momentum": 0.5}],
    "MSVAG": [{}, {"lr": 0.3, "beta": 0.5, "eta": 0.5, "weight_decay_rate": 0.1}],
    "NesterovAG": [{}, {"lr": 0.1, "momentum": 0.5}],
    "RMSprop": [
        {},
        {"lr": 0.1, "alpha": 0.5, "eps": 1e-2},
        {"eps": 1e-2, "eps_inside_sqrt": True},
    ],
    "RMSpropGraves": [{}, {"lr": 0.1, "alpha": 0.5, "momentum": 0.3, "eps": 1e-2}],
    "SGD": [{}, {"lr": 0.3}],
    "SMORMS3": [{}, {"lr": 0.5, "eps": 1e-3}],
}
EVENTS = {
    "rate changed": {"changes": {"4": {"lr": 0.3}}},
    "rate of one": {"changes_of_one": {"0": {"lr": 0.3}, "6": {"momentum": 0.1}}},
    "one without gradient": {"absent": [3, 4, 7]},
    "one disabled": {"disabled": [0, 4, 5]},
}


def gradients():
    """Gradients for the two parameters at each step: of both signs and several magnitudes."""
    draw = np.random.RandomState(1)
    sizes = draw.choice([1e-3, 0.1, 1.0, 10.0], (STEPS, 4)) * draw.normal(size=(STEPS, 4))
    return [[row[:2], [row[2:]]] for row in np.round(sizes, 6).tolist()]


def cases():
    """Each case by its name."""
    for name, settings in SETTINGS.items():
        for number, arguments in enumerate(settings):
            yield f"{name} {number}", {"optimizer": name, "arguments": arguments}
        half = {**settings[-1], "eps": 1e-2} if "eps" in settings[-1] else settings[-1]
        yield f"{name} float16", {"optimizer": name, "arguments": half, "dtype": "float16"}
    for hook, arguments in HOOKS.items():
        for level in ("optimizer", "rule"):
            if level == "optimizer" or hook not in FOR_ALL_PARAMETERS:
                yield (
                    f"{hook} at the {level}",
                    {
                        "optimizer": "MomentumSGD",
                        "arguments": {"lr": 0.1},
                        "hooks": [[hook, arguments, level]],
                    },
                )
    drawn = {"hooks": [["GradientNoise", [0.3], "optimizer"]], "seed": 0}
    yield "GradientNoise drawn", {"optimizer": "SGD", "arguments": {}, **drawn}
    two = [["WeightDecay", [0.1], "optimizer"], ["GradientClipping", [0.7], "optimizer"]]
    plain = {"optimizer": "MomentumSGD", "arguments": {"lr": 0.1}}
    yield "two hooks", {**plain, "hooks": two}
    yield "two hooks, turned", {**plain, "hooks": two[::-1]}
    for event, what in EVENTS.items():
        yield event, {**plain, **what}
    yield "Adam, one disabled", {"optimizer": "Adam", "arguments": {}, "disabled": [0, 4, 5]}
    bound = {"optimizer": "AdaBound", "arguments": {"gamma": 0.5}}
    yield "AdaBound, rate changed", {**bound, "changes": {"4": {"alpha": 1e-4}}}
    yield "AdaBound, rate changed before", {**bound, "changes": {"0": {"alpha": 1e-2}}}
    schedule = {str(t): {"eta": 1 / (1 + t)} for t in range(STEPS)}
    scheduled = {"optimizer": "AdamW", "arguments": {}, "changes": schedule}
    yield "AdamW, eta scheduled", scheduled


def noise(xp, shape, dtype, hook, rule):
    """What GradientNoise adds here: nothing random, and it shows the step."""
    return xp.full(shape, hook.eta / (1 + rule.t), dtype)


def record(case):
    """The parameters after each step, under Chainer."""
    import chainer

    model = chainer.Link()
    dtype = case.get("dtype", "float64")
    with model.init_scope():
        model.p0, model.p1 = (chainer.Parameter(np.array(x, dtype)) for x in START)
    optimizer = getattr(chainer.optimizers, case["optimizer"])(**case["arguments"])
    if dtype == "float16":
        optimizer.use_fp32_update()
    optimizer.setup(model)
    for name, arguments, level in case.get("hooks", []):
        extra = [noise] if name == "GradientNoise" and "seed" not in case else []
        hook = getattr(chainer.optimizer_hooks, name)(*arguments, *extra)
        (optimizer if level == "optimizer" else model.p1.update_rule).add_hook(hook)
    found = []
    np.random.seed(case.get("seed"))
    for step, given in enumerate(gradients()):
        for name, value in case.get("changes", {}).get(str(step), {}).items():
            setattr(optimizer, name, value)
        for name, value in case.get("changes_of_one", {}).get(str(step), {}).items():
            setattr(model.p1.update_rule.hyperparam, name, value)
        model.p0.grad, model.p1.grad = (np.array(g, dtype) for g in given)
        if step in case.get("absent", []):
            model.p1.cleargrad()
        model.p1.update_rule.enabled = step not in case.get("disabled", [])
        optimizer.update()
        found.append([model.p0.array.tolist(), model.p1.array.tolist()])
    return found


def signatures():
    """The defaults of each optimizer's arguments, in their order."""
    import inspect

    import chainer

    return {
        name: [
            [one.name, one.default]
            for one in inspect.signature(getattr(chainer.optimizers, name)).parameters.values()
        ]
        for name in SETTINGS
    }


def members():
    """The public members of the classes that authors build on: arguments of methods, else null."""
    import inspect

    import chainer

    optimizer = chainer.optimizer
    classes = [optimizer.Optimizer, optimizer.GradientMethod, optimizer.UpdateRule]
    classes += [optimizer.Hyperparameter, *[getattr(chainer.optimizer_hooks, n) for n in HOOKS]]
    classes += [getattr(chainer.optimizers, name) for name in SETTINGS]
    found = {}
    for one in classes:
        found[one.__name__] = told = {}
        for name in dir(one):
            value = getattr(one, name)
            if name.startswith("_") or "chainerx" in name:
                continue
            told[name] = list(inspect.signature(value).parameters) if callable(value) else None
    return found


def saved_keys():
    """What each optimizer saves after a step, once plainly and once through float32 copies."""
    import chainer

    found = {}
    for name in SETTINGS:
        for dtype in ("float64", "float16"):
            model = chainer.Link(p=((2,), dtype))
            optimizer = getattr(chainer.optimizers, name)()
            if dtype == "float16":
                optimizer.use_fp32_update()
            optimizer.setup(model)
            model.p.array[...] = 1
            model.p.grad = np.ones(2, dtype)
            optimizer.update()
            target = chainer.serializers.DictionarySerializer()
            target.save(optimizer)
            found[f"{name} {dtype}"] = sorted(target.target)
    return found


def main(path):
    """Record all."""
    warnings.simplefilter("ignore")
    lines = [
        f'"start": {json.dumps(START)}',
        f'"gradients": {json.dumps(gradients())}',
        f'"signatures": {json.dumps(signatures())}',
        f'"members": {json.dumps(members())}',
        f'"saved": {json.dumps(saved_keys())}',
    ]
    told = [json.dumps(name) + ": " + json.dumps({**c, "path": record(c)}) for name, c in cases()]
    lines.append('"cases": {\n' + ",\n".join(told) + "\n}")
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
