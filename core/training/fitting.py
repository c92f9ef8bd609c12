"""Training in one line, made of iterator, updater, trainer and the usual extensions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from core import datasets, iterators, links, optimizers
from core.arrays.backend import DeviceSpec
from core.errors import nearest
from core.errors.kinds import checked
from core.link import Link
from core.optimizer import Optimizer
from core.training import extensions, updaters
from core.training.reporter import report
from core.training.trainer import Trainer
from core.typing import Count


@checked
def fit(
    model: Link,
    data: Any,
    epochs: Count = 10,
    *,
    optimizer: Optimizer | str = "Adam",
    validation: Any = None,
    loss: Callable[..., Any] | None = None,
    batch_size: Count = 64,
    out: str | os.PathLike[str] = "result",
    device: DeviceSpec | None = None,
    converter: Callable[..., Any] | None = None,
    resume: bool = False,
    show: bool = True,
) -> Trainer:
    """Train a model on data for some epochs, and give back the trainer that did it.

    What it is made of can be put together by hand where more is needed: `SerialIterator`,
    `StandardUpdater`, `Trainer`, and the extensions `Evaluator`, `LogReport` and `snapshot`, with
    `PrintReport` where it is shown.

    Args:
        model: A link. Without `loss`, it is called with a batch and returns the loss, as
            `links.Classifier` does.
        data: A dataset of tuples, a tuple of arrays of one length, or an iterator.
        epochs: How many passes over the data, each of which ends with the evaluation, the log and
            the snapshot; counted from the beginning of a run that is resumed.
        optimizer: One, set up or not, or the name of one in `core.optimizers`.
        validation: Likewise for an evaluation after each epoch, or None.
        loss: Called with the model's output and the last array of the batch, the others being the
            model's inputs: `F.mean_squared_error`, say.
        batch_size: Examples in a batch, or all of the data where these are fewer.
        out: The folder for the log and the last snapshot.
        device: Where the model and the batches are moved.
        converter: What makes arrays of a list of examples, as for sequences of several lengths;
            None is `core.dataset.concat_examples`.
        resume: Go on from the snapshot in `out`, if there is one.
        show: Print a table with a line for each epoch.

    Raises:
        ValueError: No optimizer has this name, or epochs or examples are not whole numbers above 0.

    >>> import core, numpy as np, tempfile
    >>> import core.functions as F, core.links as L
    >>> x = np.linspace(-1, 1, 32, dtype="f")[:, None]
    >>> model = core.Sequential(L.Linear(1, 8), F.tanh, L.Linear(8, 1))
    >>> trainer = fit(
    ...     model, (x, x**2), 2, loss=F.mean_squared_error, batch_size=8, show=False,
    ...     out=tempfile.mkdtemp(),
    ... )
    >>> trainer.updater.iteration
    8
    """
    optimizer = _optimizer(optimizer)
    if optimizer.target is not model:
        optimizer.setup(model)
    computed = None if loss is None else _supervised(model, loss)
    given: dict[str, Any] = {"device": device}
    if converter is not None:
        given["converter"] = converter
    updater = updaters.StandardUpdater(
        _batches(data, batch_size, repeat=True), optimizer, loss_func=computed, **given
    )
    trainer = Trainer(updater, (epochs, "epoch"), out)
    if validation is not None:
        held_out = _batches(validation, batch_size, repeat=False)
        trainer.extend(extensions.Evaluator(held_out, model, eval_func=computed, **given))
    trainer.extend(extensions.LogReport())
    if show:
        trainer.extend(extensions.PrintReport(_columns(model, loss, validation is not None)))
    trainer.extend(extensions.snapshot(n_retains=1, autoload=resume), trigger=(1, "epoch"))
    trainer.run()
    return trainer


def _optimizer(given: Optimizer | str) -> Optimizer:
    if isinstance(given, type):
        name = given.__name__
        raise TypeError(
            f"fit: expected an optimizer or a name, got the class {name}: give {name}()"
        )
    if not isinstance(given, str):
        return given
    if given not in dir(optimizers):
        hint = nearest(given, dir(optimizers))
        raise ValueError(f"fit: expected the name of an optimizer, got {given!r}.{hint}")
    made: Optimizer = getattr(optimizers, given)()
    return made


def _batches(data: Any, batch_size: int, repeat: bool) -> Any:
    if isinstance(data, float):
        raise TypeError(
            f"fit: expected a dataset, a tuple of arrays or an iterator, got {data}. Set a part of "
            "a dataset apart by datasets.split_dataset_random(data, how_many)."
        )
    if hasattr(data, "next"):  # an iterator
        return data
    if isinstance(data, tuple):
        data = datasets.TupleDataset(*data)
    batches = iterators.SerialIterator(data, batch_size, repeat=repeat, shuffle=repeat)
    # What repeats fills batches up: one larger than the data would be several epochs.
    batches.batch_size = min(batch_size, len(data))
    return batches


def _supervised(model: Link, loss: Callable[..., Any]) -> Callable[..., Any]:
    if isinstance(model, links.Classifier):
        raise TypeError(
            f"fit: expected a model that gives outputs, since there is a loss; got a "
            f"{type(model).__name__}, which computes one itself: leave loss out, or give it as "
            "lossfun of the model."
        )

    def computed(*batch: Any, **named: Any) -> Any:
        if named:
            names = [*named]
            raise TypeError(
                f"fit: expected tuples of inputs and a target in the data, since there is a loss; "
                f"got dicts of {', '.join(map(repr, names))}. Make tuples of them: "
                f"datasets.TransformDataset(data, lambda e: (e[{names[0]!r}], e[{names[-1]!r}]))."
            )
        if len(batch) < 2:
            raise TypeError(
                "fit: expected tuples of inputs and a target in the data, since there is a loss; "
                f"got {len(batch)} array in a batch."
            )
        *inputs, target = batch
        value = loss(model(*inputs), target)
        report({"loss": value}, model)
        return value

    computed.__name__ = f"{getattr(loss, '__name__', 'the loss')} of {type(model).__name__}"
    return computed


def _columns(model: Link, loss: Any, validated: bool) -> list[str]:
    """The loss and, where the model reports one, the accuracy, on both sets of data."""
    reported = ["loss"]
    if loss is None and getattr(model, "compute_accuracy", False):
        reported.append("accuracy")
    sets = ["main", "validation/main"] if validated else ["main"]
    values = [f"{each}/{name}" for name in reported for each in sets]
    return ["epoch", *values, "elapsed_time"]
