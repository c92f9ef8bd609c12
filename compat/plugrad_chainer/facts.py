"""Which modules and public names versions of Chainer had: the files in `names/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

VERSIONS = ("1.24.0", "3.0.0", "5.4.0", "7.8.1", "others")


@cache
def names_of(version: str) -> dict[str, frozenset[str]]:
    """The modules of a version, each with its public names.

    >>> "gaussian_kl_divergence" in names_of("7.8.1")["chainer.functions.loss.vae"]
    True
    """
    text = (Path(__file__).parent / "names" / f"{version}.txt").read_text("utf-8")
    lines = [line.partition(":") for line in text.splitlines()]
    return {module: frozenset(names.split()) for module, _, names in lines}


@cache
def modules() -> dict[str, frozenset[str]]:
    """The modules of all versions, each with the names that it ever had."""
    found = {  # private, and yet imported, or asked for by pickles
        "chainer._backend": frozenset(["Device"]),
        "chainer.backends._cpu": frozenset(["CpuDevice"]),
        "chainer.training.extensions._snapshot": frozenset(["snapshot", "snapshot_object"]),
    }
    for version in VERSIONS:
        for module, names in names_of(version).items():
            found[module] = found.get(module, frozenset()) | names
    for module in list(found):  # what is below a module is a name of it
        parent, _, name = module.rpartition(".")
        if parent in found:
            found[parent] |= {name}
    return found
