"""What to write instead of inputs that do not fit.

Each habit that leads to such inputs has a repair: an expression, and what it makes of a shape and a
dtype. The cure is the repair after which the operation takes the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

Accepts = Callable[[dict[str, Any]], bool]
Shaped = tuple[int, str, tuple[int, ...], str]  # rank, expression, shape, habit

_SIZES = {"bfloat16": 2, "float16": 2, "float32": 4, "float64": 8}
_HELD = {"b": "truth values", "i": "integers", "u": "integers", "O": "objects, as tables do"}
_MOST = 4  # inputs that are looked at: pairs of repairs are tried
_PARAMETERS = ("b", "gamma", "beta")
_LABELS = "labels are numbers of classes, not one-hot rows"
_NAMES = "labels are numbers of classes, not names, in all of the data alike"
_SWAPPED = "its axes look swapped"
_ONE = "one example without its batch axis"


class Repair(NamedTuple):
    """An expression of an input, with its shape and dtype, and the habit that it mends.

    `rank` orders repairs, the commonest first.
    """

    rank: int
    text: str
    shape: tuple[int, ...]
    kind: str
    name: str
    habit: str = ""
    dtype: Any = None  # core.type_check makes one of kind and name


def cure(inputs: Mapping[str, Any], accepts: Accepts, in_link: bool = True) -> str:
    """The sentence that says what to write, or '' where no single habit, nor two, explains it.

    `inputs` are specs by name, anything with a shape, a kind and the name of a dtype; `accepts`
    tells whether the operation takes such specs. `in_link` tells whether a link has called it,
    whose parameters are not the user's to mend.

    >>> from types import SimpleNamespace
    >>> inputs = {"x": SimpleNamespace(shape=(3,), kind="f", name="float32")}
    >>> cure(inputs, lambda specs: len(specs["x"].shape) == 2)
    'write x[None]: one example without its batch axis.'
    """
    data = [name for name in inputs if not (in_link and _is_parameter(name))][:_MOST]
    shapes = _rows if _broadcasts(inputs, accepts) else _shapes
    single = [
        (name, repair) for name in data for repair in repairs(name, inputs[name], inputs, shapes)
    ]
    single.sort(key=lambda pair: pair[1].rank)
    found = [(name, repair) for name, repair in single if accepts({**inputs, name: repair})]
    text = _one_habit(found) if found else _two_habits(inputs, single, accepts, shapes)
    # As many examples as the link takes features may be chance.
    sure = text and not (found and found[0][1].habit == _SWAPPED)
    other = "" if sure or not in_link else _made_for_others(inputs, data, accepts)
    return f"{text} Or {other}" if text and other else text or other


def _broadcasts(inputs: Mapping[str, Any], accepts: Accepts) -> bool:
    """Whether nearly any shape with one more axis is taken, which then tells of no habit."""
    apart = {
        name: Repair(0, "", (3, 1) if i % 2 else (1, 2), spec.kind, spec.name)
        for i, (name, spec) in enumerate(inputs.items())
    }
    return len(apart) > 1 and accepts(apart)


def _one_habit(found: list[tuple[str, Repair]]) -> str:
    """The first repair, and the next one of the same input that leaves it the same dtype."""
    name, first = found[0]
    meant = [r for n, r in found if n == name and r.name == first.name]
    return "write " + ", or ".join([f"{r.text}: {r.habit}" for r in meant[:2]]) + "."


def _is_parameter(name: str) -> bool:
    return name[0].isupper() or name in _PARAMETERS


def repairs(
    text: str, spec: Any, inputs: Mapping[str, Any], shapes: Callable[..., Iterator[Shaped]]
) -> Iterator[Repair]:
    """What may be meant by an input that `text` stands for."""
    shape = tuple(spec.shape)
    one_of_several = text.endswith("]")  # whose axes those of the others decide
    for rank, expression, mended, habit in () if one_of_several else shapes(text, shape):
        yield Repair(rank, expression, mended, spec.kind, spec.name, habit)
    for rank, name, habit in _dtypes(spec, dict.fromkeys([s.name for s in inputs.values()])):
        kind = "i" if name == "int32" else "f"
        yield Repair(rank, f"{text}.astype({name!r})", shape, kind, name, habit)
    if spec.kind in "UT":
        numbers = f"numpy.unique({text}, return_inverse=True)[1]"
        yield Repair(2, numbers, shape, "i", "int64", _NAMES)
    if len(shape) > 1 and shape[1] > 1 and not one_of_several and spec.kind != "c":
        rest = (shape[0], *shape[2:])
        yield Repair(4, f"{text}.argmax(axis=1)", rest, "i", "int32", _LABELS)


def _dtypes(spec: Any, names: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    floats = [name for name in names if name in _SIZES and name != spec.name]
    if spec.kind in "fV":
        for name in floats:
            habit = f"it is {spec.name} beside {name}"
            habit += ", the default of NumPy" if spec.name == "float64" else ""
            yield (0 if _SIZES[name] < _SIZES.get(spec.name, 0) else 11), name, habit
    if spec.kind in "fVb":
        yield 2, "int32", "what names classes or rows is an integer"
    if spec.kind in _HELD:
        habit = f"it holds {_HELD[spec.kind]}"
        habit += ", pixels perhaps, then / 255" if spec.name == "uint8" else ""
        yield 1, next(iter(floats), "float32"), habit


def _rows(text: str, shape: tuple[int, ...]) -> Iterator[Shaped]:
    """What is meant where shapes broadcast, which are aligned at their last axes."""
    if len(shape) == 1:
        yield 5, f"{text}[:, None]", (*shape, 1), "it has one number for each row"


def _shapes(text: str, shape: tuple[int, ...]) -> Iterator[Shaped]:
    ndim = len(shape)
    yield 5, f"{text}[None]", (1, *shape), _ONE
    if ndim < 2:
        return
    if shape[-1] == 1:
        yield 3, f"{text}[{':' if ndim == 2 else '...'}, 0]", shape[:-1], "it is a column"
    yield 6, f"{text}[:, None]", (shape[0], 1, *shape[1:]), "images without a channel axis"
    yield 7, f"{text}[None, None]", (1, 1, *shape), "one image without axes of batch and channel"
    if ndim > 2:
        axes = (0, ndim - 1, *range(1, ndim - 1))
        moved = tuple([shape[i] for i in axes])
        yield 8, f"{text}.transpose{axes}", moved, "channels come second, not last"
        axes = (ndim - 1, *range(ndim - 1))
        moved = (1, *[shape[i] for i in axes])
        yield 9, f"{text}.transpose{axes}[None]", moved, f"channels come first, and {_ONE}"
    else:
        yield 10, f"{text}.T", shape[::-1], _SWAPPED


def _two_habits(
    inputs: Mapping[str, Any],
    single: list[tuple[str, Repair]],
    accepts: Accepts,
    shapes: Callable[..., Iterator[Shaped]],
) -> str:
    """Two inputs repaired, or the dtype and the shape of one."""
    for (one, first), (other, second) in product(single, single):
        if first.habit == second.habit == _LABELS:
            continue  # of one operation one input alone is labels
        if one != other:
            both, text = {one: first, other: second}, f"{first.text} and {second.text}"
        else:
            again = {r.rank: r for r in repairs(first.text, first, inputs, shapes)}.get(second.rank)
            if again is None or (again.name == first.name) == (first.name == inputs[one].name):
                continue
            both, text = {one: again}, again.text
        if accepts({**inputs, **both}):
            return f"write {text}: {'; '.join(dict.fromkeys([first.habit, second.habit]))}."
    return ""


def _made_for_others(inputs: Mapping[str, Any], data: list[str], accepts: Accepts) -> str:
    """Where the data would fit parameters of another size, which these fit among themselves."""
    x = inputs[data[0]] if data else None
    if x is None or len(x.shape) < 2:
        return ""
    size, parameters = x.shape[1], {n: s for n, s in inputs.items() if n not in data}
    for made in dict.fromkeys([n for spec in parameters.values() for n in spec.shape[:2]]):
        resized = {name: _resized(spec, made, size) for name, spec in parameters.items()}
        if accepts({**inputs, **resized}):
            if not accepts({**inputs, data[0]: _resized(x, size, made, 1)}):
                return _unlike(parameters)
            return (
                f"the link was made for {made} along axis 1 of {data[0]}, which has {size}. Give "
                f"it {size} as the size of its input, or None to take it from the first input."
            )
    return ""


def _unlike(parameters: Mapping[str, Any]) -> str:
    shapes = " and ".join([f"{name} of {tuple(spec.shape)}" for name, spec in parameters.items()])
    name = next(iter(parameters))
    return (
        f"no input fits {shapes} together: one of them has got an array of another shape, perhaps "
        f"transposed. Write {name}.array[...] = array, which keeps the shape of {name}."
    )


def _resized(spec: Any, made: int, size: int, first: int = 0) -> Repair:
    front = [size if n == made and i >= first else n for i, n in enumerate(spec.shape[:2])]
    return Repair(0, "", (*front, *spec.shape[2:]), spec.kind, spec.name)
