"""Probes of behaviour: short pieces of code, of which what they return or raise is compared.

The files in tests/data/behaviour hold them: code that all probes of the file share, then each
probe under `== NAME`, or under `== NAME_{it} for it in A B C` as several, and at its end, after
`->`, what Chainer 3.0.0 makes of it. They are run by its interpreter (Python 3.6) and by ours.
"""

import contextlib
import io
import json
import os
import tempfile
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "data" / "behaviour"
ROOMS = {
    "F": "functions",
    "L": "links",
    "O": "optimizers",
    "trigger_mod": "training.trigger",
    "extension": "training.extension",
    "extensions": "training.extensions",
    "triggers": "training.triggers",
}
ROOMS.update((name, name) for name in ["configuration", "dataset", "datasets", "initializers"])
ROOMS.update((name, name) for name in ["iterators", "optimizer", "reporter", "serializers"])
ROOMS["training"] = "training"


class Probe:
    """A piece of code under a name; `recorded` is what Chainer makes of it, by name in the file."""

    def __init__(self, text):
        head, _, body = text.partition("\n")
        code, _, recorded = body.partition("\n-> ")
        self.head, self.code = head, code.rstrip("\n")
        self.recorded = json.loads(recorded) if recorded else None
        name, _, loop = head.partition(" for ")
        variable, _, values = loop.partition(" in ")
        self.variants = {name: {}}
        if loop:
            bound = [(each, {variable: each}) for each in values.split()]
            self.variants = {name.format(**each): each for _, each in bound}

    def text(self):
        return f"== {self.head}\n{self.code}\n-> {json.dumps(self.recorded)}\n"


def read(path):
    """The shared code of a file, and its probes."""
    shared, *texts = path.read_text(encoding="utf-8").split("\n== ")
    return shared, [Probe(text) for text in texts]


def outcomes(framework, shared, probe):
    """Variant -> what it makes of the probe."""
    space = {"C": framework, "np": np, "os": os, "io": io, "json": json}
    space["__name__"] = "__probes__"
    for name, room in ROOMS.items():
        space[name] = import_module(framework.__name__ + "." + room)
    exec(compile(shared, "shared", "exec"), space)
    lines = "\n    ".join(probe.code.split("\n"))
    found = {}
    for name, bound in probe.variants.items():
        space.update(bound)
        exec(compile("def probe():\n    " + lines, name, "exec"), space)
        found[name] = outcome(framework, space["probe"])
    return found


def outcome(framework, probe):
    """What a probe gives, or the names of the classes of the error that it raises."""
    np.random.seed(0)
    before, quiet = os.getcwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                return described(framework, probe())
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            return {"raises": kinds[: kinds.index("Exception")]}
        finally:
            os.chdir(before)


def described(framework, x):
    """A value in terms that JSON has, rounded to five digits."""
    if isinstance(x, framework.Variable):
        kind = "Parameter" if isinstance(x, framework.Parameter) else "Variable"
        return [kind, described(framework, x.data)]
    if isinstance(x, np.ndarray):
        return [str(x.dtype), list(x.shape), described(framework, x.tolist())]
    if isinstance(x, np.generic):
        return described(framework, x.item())
    if x is None or isinstance(x, (bool, int, str)):
        return x
    if isinstance(x, float):
        return float(f"{x:.5g}") if abs(x) < float("inf") else str(x)
    if isinstance(x, (list, tuple)):
        return [described(framework, each) for each in x]
    if isinstance(x, dict):
        return {str(key): described(framework, x[key]) for key in sorted(x)}
    return type(x).__name__
