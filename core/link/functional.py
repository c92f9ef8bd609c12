"""Links called as functions of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.arrays.backend import current
from core.errors import UnknownName, nearest
from core.errors.kinds import checked
from core.graph.variable import as_variable
from core.link.link import Link
from core.typing import Array


@checked
def functional_call(link: Link, params: Mapping[str, Array], /, *args: Any, **kwargs: Any) -> Any:
    """Call a link with other parameters, so that gradients reach what these were computed from.

    For steps that are part of what is differentiated, as in meta-learning; for parameters that
    another network computes; and, by `core.vmap`, for several sets of parameters at once.

    Args:
        link: What is called. It has its own parameters again when the call is over.
        params: Arrays or Variables by path, as `dict(link.namedparams())` has them. Parameters that
            are not among them are those of the link. One that several links share may be given by
            any of its paths, and by several where that is one object.
        *args: Arguments of the link.
        **kwargs: The same.

    Returns:
        What the link gives.

    Persistent values, such as running averages, and states of recurrent links are the link's own.
    No other thread may use the link meanwhile.

    Raises:
        UnknownName: The link has no such parameter.
        ValueError: A parameter has another shape, or two are given for the same one.

    >>> import core, core.functions as F, core.links as L, numpy as np
    >>> model = L.Linear(1, 1, initialW=2)
    >>> x, t = np.ones((1, 1), "f"), np.zeros((1, 1), "f")
    >>> params = dict(model.namedparams())
    >>> loss = F.mean_squared_error(functional_call(model, params, x), t)
    >>> grads = core.grad([loss], list(params.values()), enable_double_backprop=True)
    >>> after = {path: p - 0.1 * g for (path, p), g in zip(params.items(), grads, strict=True)}
    >>> loss = F.mean_squared_error(functional_call(model, after, x), t)
    >>> loss.backward()  # through the step
    >>> model.W.array, model.W.grad.round(2)
    (array([[2.]], dtype=float32), array([[1.44]], dtype=float32))
    """
    known, taken = _by_path(link), []
    lift = getattr(current().array_type, "_lift_beside", None)  # a trace has to know of them
    paths: dict[int, str] = {}
    given = params.values() if lift is None else lift(tuple(params.values()))
    for path, x in zip(params, given, strict=True):
        if path not in known:
            hint = nearest(path, known)
            raise UnknownName(f"functional_call: the link has no parameter {path!r}.{hint}")
        p, x = known[path], as_variable(x)
        if params[first := paths.setdefault(id(p), path)] is not params[path]:
            raise ValueError(
                f"functional_call: {first} and {path} are one parameter, which links share; two "
                "were given. Give one."
            )
        if p.is_initialized and x.shape != p.shape:
            raise ValueError(f"functional_call: expected {path} of shape {p.shape}, got {x.shape}")
        # All are read before the first is written: one may be given in the place of another.
        taken.append((p, (x._array, x._spec, x._source, None, None)))
    before = [(p, (p._array, p._spec, p._source, p._constant, p._shown)) for p, _ in taken]
    try:
        _put(taken)
        return link(*args, **kwargs)
    finally:
        _put(before)


def _by_path(link: Link) -> dict[str, Any]:
    """The parameters by all paths: those that links share have several."""
    links = link.namedlinks()
    return {f"{path.rstrip('/')}/{n}": p for path, part in links for n, p in part._own_params()}


def _put(places: list[tuple[Any, tuple[Any, ...]]]) -> None:
    for p, place in places:
        p._array, p._spec, p._source, p._constant, p._shown = place
