"""What differs between Chainer and plugrad on purpose, switched to Chainer's way.

Importing `chainer` switches all of it, for the whole process: a program that runs on Chainer is to
see what Chainer does. Each module here says what it switches in its `switch`.
"""

from __future__ import annotations

from plugrad_chainer.behaviour import (
    comparisons,
    device_names,
    environment,
    evaluation,
    files,
    graphs,
    iteration,
    parameters,
    pickles,
    registering,
    removed_names,
    sequences,
    settings,
    steps,
)
from plugrad_chainer.version1 import objects

_switched: list[bool] = []


def switch() -> None:
    """Switch all of it; once is enough."""
    if not _switched:
        _switched.append(True)
        for part in (
            comparisons,
            device_names,
            environment,
            evaluation,
            files,
            graphs,
            iteration,
            removed_names,
            parameters,
            pickles,
            registering,
            sequences,
            settings,
            steps,
            objects,
        ):
            part.switch()
