"""What fits a Variable: what is an array at all, and which gradient is like its array."""

from __future__ import annotations

from typing import Any

from core.arrays.array_backend import BACKENDS, unwrapped
from core.arrays.spec import Spec, spec_of
from core.errors import BackendError, place
from core.errors.scalars import is_number
from core.registry import absent, backends


def is_array(value: object) -> bool:
    """Whether some backend knows arrays of this type."""
    try:  # no backend is asked about numbers
        return type(value) in BACKENDS or not is_number(value) and BACKENDS[type(value)] is not None
    except BackendError:
        return False


def taken(value: Any) -> Any:
    """An array that a user brings, as its backend takes it; None for what no backend knows."""
    try:
        take = BACKENDS[type(value)].taken
    except BackendError:
        return None
    return value if take is None else take(value)


def no_array(who: str, value: object) -> TypeError:
    """The refusal of a value that no backend knows; `who` is the beginning of the sentence."""
    batch = isinstance(value, (list, tuple)) and len(value) > 0 and is_array(unwrapped(value[0]))
    make = "numpy.stack makes a batch of them" if batch else "numpy.asarray makes one"
    return TypeError(
        f"{who} an array of a backend ({', '.join(backends.known.names())}), "
        f"got {type(value).__name__}. Make an array of it first: {make}.{absent()}"
    )


def check_grad(spec: Spec | None, name: str | None, gradient: Any) -> Any:
    """A gradient, refused if it is not like the variable with this spec and name.

    Beside a variable that is traced, it is the gradient traced, as operands are.
    """
    if spec is None:
        return gradient
    if (array := taken(bare := unwrapped(gradient))) is None:
        raise TypeError(f"gradient: expected an array, got {type(bare).__name__}")
    gradient = array if gradient is bare else gradient
    given = spec_of(array)
    if given is spec or given is None:
        return gradient
    lift = getattr(spec.backend.array_type, "_lift_beside", None)
    if lift is not None:
        (gradient,) = lift((gradient,))
        given = spec_of(unwrapped(gradient)) or spec
    who = f"gradient of {name or 'a variable'}"
    if (given.backend, given.device) != (spec.backend, spec.device):
        raise TypeError(
            f"{who}: expected an array on {spec.backend.named(spec.device)}, got one on "
            f"{given.backend.named(given.device)}. Move it with to_device()."
        )
    if given.name != spec.name:
        raise TypeError(f"{who}: expected dtype {spec.name}, got {given.name}. Cast it first.")
    if given.shape != spec.shape:
        raise ValueError(f"{who}: expected shape {spec.shape}, got {given.shape}")
    return gradient


def _spec_of(value: object) -> Spec | None:
    """What errors tell of an argument that is an array or a Variable."""
    array = unwrapped(value)
    return spec_of(array) if array is not None and is_array(array) else None


place.spec_of = _spec_of
