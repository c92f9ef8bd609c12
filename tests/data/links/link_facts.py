"""What is told of a link, by the same code with Chainer and with plugrad."""

import numpy as np
from data.links.link_cases import CASES, LARGE, RANDOM_IN_TRAINING, STATEFUL
from data.links.vision_values import parameter, values

STATISTICS = ("avg_mean", "avg_var")


def made(code, namespace):
    return eval(code, {**namespace, "np": np})


def input_of(spec, name="x"):
    """The array, or the list of arrays, that a specification stands for."""
    if isinstance(spec, tuple):
        return values(name, spec).astype("f")
    if all(isinstance(n, int) for n in spec):
        return np.array(spec, "i")
    return [input_of(part, f"{name}{i}") for i, part in enumerate(spec)]


def owned(link):
    """Path -> array of parameters and persistent values, of None where there is no array yet."""
    found = {path: parameter.array for path, parameter in link.namedparams()}
    for path, part in link.namedlinks():
        for name in part._persistent:
            found[f"{path.rstrip('/')}/{name}"] = getattr(part, name)
    return {path: found[path] for path in sorted(found)}


def described(array):
    """Shape and dtype, with the values where they are round numbers, which are not random."""
    if array is None:
        return None
    array = np.asarray(array)
    wholes = 4 * array.astype("float64")
    chosen = (wholes == np.round(wholes)).all()
    return [list(array.shape), str(array.dtype), told(array) if chosen else "random"]


def told(array):
    """The elements to six digits; a single one where all are the same.

    Of many, some of the elements, the mean and the deviation.
    """
    flat = np.asarray(array, "float64").ravel()
    if flat.size > 24:
        places = np.linspace(0, flat.size - 1, 12).astype(int)
        flat = np.array([*flat[places], flat.mean(), flat.std()])
    found = [float(f"{v:.6g}") for v in flat]
    return found[0] if len(set(found)) == 1 else found


def fill(link):
    for path, array in owned(link).items():
        own = path.rpartition("/")[2]
        if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.ndim:
            array[...] = parameter(path.strip("/"), array.shape)
        elif own in STATISTICS:
            array[...] = 1


def arrays_of(y):
    """All arrays in a result, one after the other."""
    if isinstance(y, (tuple, list)):
        return [array for part in y for array in arrays_of(part)]
    return [y.array]


def called_in_test_mode(code):
    """The keywords that it takes to call a link in test mode, beside the mode itself."""
    return {"train": False} if "Dropconnect" in code else {}


def outputs(link, code, config):
    """The results of calls in training and test mode, those that are not random."""
    inputs = [input_of(spec, f"input {i}") for i, spec in enumerate(CASES[code])]
    found = {}
    for mode in (True, False):
        if mode and any(part in code for part in RANDOM_IN_TRAINING):
            continue
        extra = {} if mode else called_in_test_mode(code)
        with config("train", mode):
            y = [link(*inputs, **extra) for _ in range(2 if code.startswith(STATEFUL) else 1)]
            found["train" if mode else "test"] = [
                [list(array.shape), told(array)] for array in arrays_of(y)
            ]
            if code.startswith(STATEFUL):
                link.reset_state()
    if found.get("train") == found["test"]:
        del found["train"]
    found["kept"] = {
        path: told(array)
        for path, array in owned(link).items()
        if path.endswith(STATISTICS) or path.endswith("/N")
    }
    return found


def fact(code, namespace, config):
    """All that is told of one link: what it owns before and after a call, and its outputs."""
    link = made(code, namespace)
    found = {"owned": {path: described(array) for path, array in owned(link).items()}}
    if CASES[code] is None:
        return found
    first = [input_of(spec, f"input {i}") for i, spec in enumerate(CASES[code])]
    link(*first)  # sizes that were left out are known from here on
    found["sized"] = {path: described(array) for path, array in owned(link).items()}
    if code.startswith(STATEFUL):
        link.reset_state()
    fill(link)
    return {**found, **outputs(link, code, config)}


def deviations(code, namespace):
    """Path -> deviation of the initial values, of parameters that are random."""
    found = {}
    for path, parameter_ in made(code, namespace).namedparams():
        array = parameter_.array
        if len(np.unique(array)) > 3:
            found[path] = [float(f"{array.std():.6g}"), array.size]
    return found


def facts(namespace, config):
    return {code: fact(code, namespace, config) for code in CASES}


def all_deviations(namespace):
    return {code: deviations(code, namespace) for code in LARGE}
