"""Links that Chainer has pickled whole, read without running what the file says.

Whatever a pickle names is a stand-in that keeps what it is given; nothing is imported, nothing is
called. Arrays are made of the bytes of NumPy's.
"""

from __future__ import annotations

import pickle
import re
from collections import OrderedDict
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

from core import Link, Sequential
from core.errors import CheckpointDamaged, CheckpointError
from core.errors.kinds import checked
from plugins.formats import PICKLE, instead
from plugins.serializers.dictionary import check_serializable
from plugins.serializers.entries import Array, Entries, File, Spec, contents
from plugins.serializers.loading import EntriesDeserializer, Ignored, load_entries
from plugins.serializers.stand_ins import StandIn, StandIns
from plugins.serializers.torch_file import check_memo

DEEPEST = 100
"""How deep links may lie in links."""

MOST = 1 << 16
"""How many links a pickle may have."""


@checked
def load_pickled(
    file: File, model: Link, *, strict: bool = True, ignore_names: Ignored = None
) -> None:
    """Load a link that Chainer of any version has pickled as a whole into `model`.

    Parameters and persistent values are taken from the pickle by their paths, as from an npz file;
    the classes that it names are not looked for, so that it needs neither Chainer nor the program
    that made it, and nothing in it is run. Arrays of CuPy are read as NumPy's.

    Args:
        file: A path, or a file open for reading bytes.
        model: The same model, made here.
        strict: Whether the file must have all values.
        ignore_names: Names that are not loaded, or predicates on them.

    Raises:
        CheckpointDamaged: The file is no pickle, or damaged.
        CheckpointError: It is no pickle of a link, or does not fit; nothing is loaded.

    >>> import core.links as L, pickle, io
    >>> try:
    ...     load_pickled(io.BytesIO(pickle.dumps([1, 2])), L.Linear(3, 2))
    ... except CheckpointError as error:
    ...     print(str(error)[:44])
    the file: expected a pickled link, got list.
    """
    check_serializable("load_pickled", model)
    data, label = contents("load_pickled", file)
    entries = _Values(_unpickled(data, label), label)
    load_entries("load_pickled", model, EntriesDeserializer(entries, "", strict, ignore_names))


def _unpickled(data: bytes, label: str) -> dict[str, Any]:
    """The values in a pickled link by path."""
    try:
        check_memo(data)
        link = _Inert(data).load()
        return dict(_Tree(label).entries(link))
    except CheckpointError:
        raise
    except Exception as error:  # whatever a damaged pickle makes of itself
        raise CheckpointDamaged(
            f"{label}: the file is damaged or no pickle: {type(error).__name__}: {error}."
            f"{instead(data, PICKLE) or ' Use another copy.'}"
        ) from error


class _Array:
    """An array of NumPy's, made when its state is there."""

    array: Array | None = None

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, by_columns, content = state
        data = content.encode("latin1") if isinstance(content, str) else content
        self.array = _array(data, dtype.dtype, shape, "F" if by_columns else "C")


class _Dtype:
    """A dtype of numbers; the order of its bytes is in its state."""

    def __init__(self, name: str, *_: Any) -> None:
        if not re.fullmatch(r"[<>|=]?([biufc]\d+|\?|b1|O8?|float\d+|u?int\d+|bool)", str(name)):
            raise ValueError(f"expected numbers, got the dtype {name!r:.40}")
        self.dtype = np.dtype(name)

    def __setstate__(self, state: Any) -> None:
        if state[1] in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(state[1])


def _array(data: bytes, dtype: Any, shape: Any, order: Any) -> Array:
    if dtype.hasobject:
        raise ValueError("expected arrays of numbers, got one of objects")
    native = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))
    return native.reshape(shape, order=order)


def _empty(*_: Any) -> _Array:
    return _Array()


def _scalar(dtype: _Dtype, content: Any) -> Array:
    data = content.encode("latin1") if isinstance(content, str) else content
    return _array(data, dtype.dtype, (), "C")


def _buffered(data: Any, dtype: _Dtype, shape: Any, order: str, *_: Any) -> Array:
    return _array(bytes(data), dtype.dtype, shape, order)


def _made(cls: Any, *args: Any) -> Any:
    """What `copyreg` does with a class; only stand-ins are made."""
    return cls() if isinstance(cls, type) and issubclass(cls, (StandIn, _Array)) else None


_NUMPY = {"dtype": _Dtype, "_reconstruct": _empty, "scalar": _scalar, "_frombuffer": _buffered}
_PLAIN = {
    ("collections", "OrderedDict"): OrderedDict,
    ("__builtin__", "set"): set,
    ("builtins", "set"): set,
    ("copy_reg", "_reconstructor"): _made,
    ("copyreg", "_reconstructor"): _made,
    ("_codecs", "encode"): lambda text, encoding="latin1": text.encode("latin1"),
}


class _Inert(pickle.Unpickler):
    def __init__(self, data: bytes) -> None:
        super().__init__(BytesIO(data), encoding="latin1")
        self._named = StandIns()

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "numpy" and name in _NUMPY:
            return _NUMPY[name]
        if (module, name) in _PLAIN:
            return _PLAIN[module, name]
        return self._named(module, name)


# -- what is in it ----------------------------------------------------------------------------


class _Values(Entries):
    def __init__(self, values: dict[str, Any], label: str) -> None:
        self.label = label
        self._arrays = {name: np.asarray(value) for name, value in values.items()}
        self.specs = {
            name: Spec(a.shape, a.dtype, False, a.nbytes) for name, a in self._arrays.items()
        }

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]


class _Tree:
    """The values of a pickled link by path, as Chainer would have saved them."""

    def __init__(self, label: str) -> None:
        self._label, self._count = label, 0

    def entries(self, link: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
        state = getattr(link, "state", {})
        self._count += 1
        if "_params" not in state or depth > DEEPEST or self._count > MOST:
            raise self._refusal(f"got {getattr(link, 'called', type(link).__name__)}")
        for name in (*state["_params"], *state.get("_persistent", ())):
            value = _value(state.get(self._text(name)))
            if value is not None:
                yield path + name, value
        for i, child in enumerate(_children(state)):
            own = self._text(child) if isinstance(child, str) else str(i)
            yield from self.entries(state.get(own, child), f"{path}{own}/", depth + 1)

    def _text(self, name: Any) -> str:
        if not isinstance(name, str):
            raise self._refusal(f"got a name that is {type(name).__name__}")
        return name

    def _refusal(self, got: str) -> CheckpointError:
        return CheckpointError(
            f"{self._label}: expected a pickled link, {got}. Where you trust the file, load it by "
            "the program and the Chainer that wrote it, and save it by serializers.save_npz."
        )


def _children(state: dict[str, Any]) -> Any:
    """Names or links; those of a Sequential, which Chainer does not number in order, as here."""
    children, layers = state.get("_children", ()), state.get("_layers")
    if not isinstance(layers, list):
        return children
    found = Sequential._numbered(layers, lambda layer: "_params" in getattr(layer, "state", ()))
    return found if {*map(id, found)} == {*map(id, children)} else children


def _value(value: Any) -> Any:
    """The array, number or text that a value stands for; None for a parameter without a size."""
    for _ in range(DEEPEST):
        if isinstance(value, _Array):
            return value.array
        if isinstance(value, StandIn):  # a Variable, its array first, or an array of CuPy
            value = value.args[0] if value.args else value.state.get("_data")
        elif isinstance(value, (list, tuple)) and value:  # of Chainer 4 and later
            value = value[0]
        else:
            return value if isinstance(value, (np.ndarray, int, float, str)) else None
    return None
