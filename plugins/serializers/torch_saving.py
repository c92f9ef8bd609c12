"""Weights of links for PyTorch's models."""

from __future__ import annotations

import os
from io import BytesIO
from typing import Any

from core import Link
from core.errors import CheckpointError
from core.errors.kinds import checked
from plugins.serializers.atomic import replacing, write_all
from plugins.serializers.dictionary import values_of
from plugins.serializers.entries import Array, File, is_none
from plugins.serializers.matching import (
    Mapped,
    Matches,
    Row,
    check_link,
    joined,
    renamed,
    shapes_of,
)
from plugins.serializers.safetensors_file import to_bytes
from plugins.serializers.torch_names import Part, Unit, units_of
from plugins.serializers.torch_writing import write


@checked
def save_torch(file: File, model: Link, mapping: Matches | Mapped = None) -> Matches:
    """Save a link's arrays as the tensors of a PyTorch model, for `module.load_state_dict`.

    The file is what `torch.save` writes, which `torch.load(file, weights_only=True)` reads, or
    with a path that ends in '.safetensors' a safetensors file. PyTorch need not be installed.
    Tensors have the paths of the links, with dots, and PyTorch's names: `weight` and `bias`, gates
    in one tensor. What `load_torch` does to tensors is undone; a bias that is two there is in the
    first. A parameter that several links share is written once, under each of its names.

    Args:
        file: A path, or a file open for writing bytes. A path has the old file or the new one.
        model: A link with sizes.
        mapping: The table that `load_torch` gave: tensors are called as they were in that file. Or
            new names: a dict from beginnings of paths to others, or a function of a name; None
            leaves a tensor out.

    Returns:
        What is written, a list of `entries`, `tensors`, `shape` and `how`, shown as a table.

    Raises:
        CheckpointError: A parameter has no values yet, two tensors would have one name, or arrays
            are of a dtype that such files lack; nothing is written.

    >>> import core.links as L, io
    >>> file = io.BytesIO()
    >>> print(save_torch(file, L.LSTM(2, 3), {"": "rnn"}))
    model      file                            shape
    upward/W   rnn.weight_ih_l0                (12, 2)       gates interleaved
    lateral/W  rnn.weight_hh_l0                (12, 3)       gates interleaved
    upward/b   rnn.bias_ih_l0, rnn.bias_hh_l0  (12,), (12,)  summed, gates interleaved
    """
    check_link("save_torch", model)
    entries = _complete(model)
    table, tensors = _tensors(model, entries, mapping)
    if not isinstance(file, str | os.PathLike):
        buffer = BytesIO()
        write(buffer, tensors)
        write_all("save_torch", file, buffer.getvalue())
    elif os.fspath(file).endswith(".safetensors"):
        data = to_bytes(tensors)
        with replacing(file) as temporary:
            temporary.write_bytes(data)
    else:
        with replacing(file) as temporary, open(temporary, "wb") as opened:
            write(opened, tensors)
    return table


def _complete(model: Link) -> dict[str, Array]:
    """The arrays of a model by entry; raises where parameters have none."""
    for path, parameter in model.namedparams():
        if not parameter.is_initialized:
            raise CheckpointError(
                f"save_torch: expected parameters with values, got {path} without. Call the model "
                "once before."
            )
    return {name: a for name, a in values_of("save_torch", model).items() if not is_none(a)}


def _tensors(
    model: Link, entries: dict[str, Array], mapping: Matches | Mapped
) -> tuple[Matches, dict[str, Array]]:
    """What is written, and the tensors by name."""
    before = {row.entries: row.tensors for row in mapping} if isinstance(mapping, Matches) else None
    known = None if before is None else {name for names in before.values() for name in names}
    table, tensors = Matches(), dict[str, Array]()
    for unit in units_of(model, entries, known):
        for part in unit.parts:
            paths = tuple([joined(unit.path, name) for name in part.entries])
            if not entries.keys() >= {*paths}:  # what may be None
                continue
            made = part.back(*[entries[path] for path in paths])
            names = _named(unit, part, mapping) if before is None else before.pop(paths, None)
            kept = _kept(paths, names, made)
            _refuse_twice(tensors.keys() & kept.keys())
            tensors.update(kept)
            if kept:
                table.append(Row(paths, tuple(kept), shapes_of(kept.values()), part.how))
    if before:
        rest = ", ".join([path for paths in before for path in paths])
        raise CheckpointError(f"save_torch: the table has what the model lacks: {rest}.")
    return table, tensors


def _named(unit: Unit, part: Part, mapping: Any) -> tuple[str | None, ...]:
    """What a mapping calls the tensors of a part; None for those that it leaves out."""
    prefix = unit.path.replace("/", ".")
    names = [f"{prefix}.{each[0]}".strip(".") for each in part.tensors]
    return tuple([renamed(name, mapping) for name in names])


def _kept(
    paths: tuple[str, ...], names: tuple[str | None, ...] | None, made: list[Array]
) -> dict[str, Array]:
    """The tensors of a part that are written; a module without them is one whose are 0."""
    if names == () and any([array.any() for array in made]):
        raise CheckpointError(
            f"save_torch: the table has no tensor for {', '.join(paths)}, which is not 0 "
            "any more. Leave the table out, and make the module with a bias."
        )
    return {n: a for n, a in zip(names or (), made, strict=False) if n is not None}


def _refuse_twice(names: set[str]) -> None:
    if names:
        raise CheckpointError(
            f"save_torch: expected a name for each tensor, got {', '.join(sorted(names))} twice."
        )
