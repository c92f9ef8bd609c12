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
    if flat.size > 12:
        places = np.linspace(0, flat.size - 1, 8).astype(int)
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


def variables_of(y):
    """All variables in a result, one after the other."""
    if isinstance(y, (tuple, list)):
        return [variable for part in y for variable in variables_of(part)]
    return [y]


def variables(given, system):
    """The inputs as variables, integers as they are."""
    if isinstance(given, list):
        return [variables(part, system) for part in given]
    return system.Variable(given) if given.dtype.kind == "f" else given


def gradients(link, inputs, y, system):
    """Path -> gradient of the outputs' sum, weighted by values that are the same everywhere.

    Those of the inputs are called by their number.
    """
    link.cleargrads()
    total = system.functions.sum
    parts = [total(v * values(f"y{i}", v.shape).astype("f")) for i, v in enumerate(y)]
    sum(parts[1:], parts[0]).backward()
    found = dict(sorted(link.namedparams()))
    given = enumerate(variables_of(inputs))
    found |= {str(i): v for i, v in given if isinstance(v, system.Variable)}
    return {path: None if v.grad is None else told(v.grad) for path, v in found.items()}


def called_in_test_mode(code):
    """The keywords that it takes to call a link in test mode, beside the mode itself."""
    return {"train": False} if "Dropconnect" in code else {}


def outputs(link, code, system):
    """The results of calls in training and test mode, those that are not random."""
    arrays = [input_of(spec, f"input {i}") for i, spec in enumerate(CASES[code])]
    found = {}
    for mode in (True, False):
        if mode and any(part in code for part in RANDOM_IN_TRAINING):
            continue
        extra = {} if mode else called_in_test_mode(code)
        inputs = variables(arrays, system)
        with system.using_config("train", mode):
            y = [link(*inputs, **extra) for _ in range(2 if code.startswith(STATEFUL) else 1)]
            y = variables_of(y)
            found["train" if mode else "test"] = [[list(v.shape), told(v.array)] for v in y]
            found.setdefault("gradients", gradients(link, inputs, y, system))
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


def saved(link, system):
    """The names in a file that the link is saved to, between blanks."""
    serializer = system.serializers.DictionarySerializer()
    serializer.save(link)
    return " ".join(sorted(serializer.target))


def dtypes(code, namespace, system):
    """Dtype in force -> the dtypes of floating values that the link then owns."""
    found = {}
    for name in ("float16", "float64"):
        with system.using_config("dtype", np.dtype(name).type):
            arrays = [a for a in owned(made(code, namespace)).values() if a is not None]
        kinds = {str(np.asarray(array).dtype) for array in arrays}
        found[name] = sorted(kind for kind in kinds if kind.startswith("float"))
    return found


def fact(code, namespace, system):
    """All that is told of one link: what it owns before and after a call, and its outputs."""
    link = made(code, namespace)
    found = {"owned": {path: described(array) for path, array in owned(link).items()}}
    found["dtypes"] = dtypes(code, namespace, system)
    if CASES[code] is None:
        return found
    first = [input_of(spec, f"input {i}") for i, spec in enumerate(CASES[code])]
    link(*first)  # sizes that were left out are known from here on
    sized = {path: described(array) for path, array in owned(link).items()}
    found["sized"] = "as made" if sized == found["owned"] else sized
    found["saved"] = saved(link, system)
    if code.startswith(STATEFUL):
        link.reset_state()
    fill(link)
    return {**found, **outputs(link, code, system)}


def deviations(code, namespace):
    """Path -> deviation of the initial values, of parameters that are random."""
    found = {}
    for path, parameter_ in made(code, namespace).namedparams():
        array = parameter_.array
        if len(np.unique(array)) > 3:
            found[path] = [float(f"{array.std():.6g}"), array.size]
    return found


def facts(*given):
    return {code: fact(code, *given) for code in CASES}


def all_deviations(namespace):
    return {code: deviations(code, namespace) for code in LARGE}
