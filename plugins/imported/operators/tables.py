"""`ai.onnx.ml`: features looked up, encoded and scaled, as before a model of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from core import functions as F
from plugins.imported.operators.common import Refused, cast, host, like, plain, sized


def _given(node: Any, what: str, usual: Any = None) -> Any:
    """The setting of a family, as `keys_int64s`, `keys_floats`, as an array of its dtype."""
    kinds = {"int64": "int64", "float": "float32", "string": "O"}
    for kind, dtype in kinds.items():
        for name in (f"{what}_{kind}s", f"{what}_{kind}"):
            if node.get(name) is not None:
                return np.array(node.get(name), dtype)
    found = node.get(f"{what}_tensor")
    return usual if found is None else found


def _elements(x: Any) -> Any:
    return x if isinstance(x, np.ndarray) else host(x)


def _key(x: Any) -> Any:
    """What equals itself, NaN too."""
    return "not a number" if isinstance(x, float) and x != x else x


def _looked_up(run: Any, x: Any, keys: Any, values: Any, default: Any) -> Any:
    table = {_key(k): v for k, v in zip(keys.tolist(), values, strict=True)}
    a = _elements(x)
    found = [table.get(_key(k), default) for k in a.reshape(-1).tolist()]
    made = np.array(found, values.dtype).reshape(a.shape)
    return [made] if made.dtype.kind == "O" else run.constant(made)


def _encode(run: Any, node: Any, values: Any, x: Any) -> Any:
    """Each element's value in a table; the default for what is not in it."""
    classes = node.get("classes_strings")
    if classes is not None:  # opset 1: names by their place
        keys, found = np.array(classes, "O"), np.arange(len(classes))
        if not isinstance(x, np.ndarray):
            keys, found = found, keys
    else:
        keys, found = _given(node, "keys"), _given(node, "values")
    if keys is None or found is None or keys.shape != found.shape or keys.ndim != 1:
        raise Refused("expected as many keys as values, in one row")
    usual = {"O": "_Unused", "f": -0.0}.get(found.dtype.kind, -1)
    own = {"O": "default_string", "f": "default_float"}.get(found.dtype.kind, "default_int64")
    default = node.get(own, usual)
    if node.get("default_tensor") is not None:
        default = node.get("default_tensor").reshape(-1)[0]
    return _looked_up(run, x, keys, found, default)


def _category(run: Any, node: Any, values: Any, x: Any) -> Any:
    names, numbers = node.get("cats_strings"), node.get("cats_int64s")
    names, numbers = np.array(names, "O"), np.array(numbers, "int64")
    if isinstance(x, np.ndarray):
        return _looked_up(run, x, names, numbers, node.get("default_int64", -1))
    return _looked_up(run, x, numbers, names, node.get("default_string", "_Unused"))


def _one_hot(run: Any, node: Any, values: Any, x: Any) -> Any:
    cats, a = _given(node, "cats"), _elements(x)
    a = a if a.dtype.kind == "O" else a.astype("int64")
    sized((*a.shape, len(cats)))
    same = a[..., None] == cats
    if not node.get("zeros", 1) and not same.any(axis=-1).all():
        raise Refused("expected known categories, got another")
    return run.constant(same.astype("float32"))


@plain
def _extract(node: Any, x: Any, index: Any) -> Any:
    """The features of these numbers."""
    places = host(index).reshape(-1)
    n = _elements(x).shape[-1]
    if ((places < 0) | (places >= n)).any():
        raise Refused(f"expected features from 0 to {n - 1}, got {places.tolist()}")
    if isinstance(x, np.ndarray):
        y = x[..., places]
        return [y.reshape(1, -1) if x.ndim == 1 else y]
    y = x[(..., like(x, places))]
    return F.reshape(y, (1, -1)) if x.ndim == 1 else y


@plain
def _binarize(node: Any, x: Any) -> Any:
    a = host(x)
    return like(x, (a > node.get("threshold", 0.0)).astype(a.dtype))


@plain
def _scale(node: Any, x: Any) -> Any:
    x = cast(x, "float32")
    offset, scale = (np.array(node.get(name, usual), "f") for name, usual in _SCALER)
    return (x - like(x, offset)) * like(x, scale)


_SCALER = (("offset", [0.0]), ("scale", [1.0]))


@plain
def _normalize(node: Any, x: Any) -> Any:
    x, norm = cast(x, "float32"), node.get("norm", "MAX")
    measures: dict[str, Any] = {
        "MAX": lambda: F.max(x, axis=-1, keepdims=True),
        "L1": lambda: F.sum(F.absolute(x), axis=-1, keepdims=True),
        "L2": lambda: F.sqrt(F.sum(x * x, axis=-1, keepdims=True)),
    }
    if norm not in measures:
        raise Refused(f"expected the norm MAX, L1 or L2, got {norm!r}")
    total = measures[norm]()
    return x / (total + like(x, (host(total) == 0).astype("float32")))


@plain
def _impute(node: Any, x: Any) -> Any:
    """What stands for a missing value is replaced."""
    a = host(x)
    whole = a.dtype.kind in "iu"
    new = node.get("imputed_value_int64s" if whole else "imputed_value_floats")
    if not new:
        raise Refused(f"expected values to impute of the dtype {a.dtype}")
    missing = node.get("replaced_value_int64" if whole else "replaced_value_float", 0)
    gone = np.isnan(a) if missing != missing else a == np.asarray(missing, a.dtype)
    filled = like(x, np.broadcast_to(np.array(new, a.dtype), a.shape))
    if whole:
        return like(x, np.where(gone, host(filled), a))
    return F.where(like(x, gone), filled, x)


@plain
def _features(node: Any, *given: Any) -> Any:
    rows = [F.reshape(x, (1, -1)) if x.ndim == 1 else x for x in given]
    sizes = node.get("inputdimensions") or [x.shape[1] for x in rows]
    return F.concat([cast(x[:, :n], "float32") for x, n in zip(rows, sizes, strict=True)], axis=1)


def transformed(y: Any, how: str) -> Any:
    """Scores of rows, as the setting `post_transform` says."""
    if how == "NONE":
        return y
    if how == "LOGISTIC":
        return F.sigmoid(y)
    if how in ("SOFTMAX", "SOFTMAX_ZERO"):
        p = F.softmax(y, axis=-1)
        if how == "SOFTMAX":
            return p
        kept = like(y, (host(y) != 0).astype(str(host(y).dtype)))
        e = F.exp(y - F.max(y, axis=-1, keepdims=True)) * kept
        total = F.sum(e, axis=-1, keepdims=True)
        return e / (total + like(y, (host(total) == 0).astype(str(host(y).dtype))))
    raise NotImplementedError(f"the transform {how}")


@plain
def _regress(node: Any, x: Any) -> Any:
    x, targets = cast(x, "float32"), node.get("targets", 1)
    weights = np.array(node.get("coefficients") or [], "f")
    if weights.size != targets * x.shape[-1]:
        raise Refused(f"expected {targets * x.shape[-1]} coefficients, got {weights.size}")
    W = like(x, weights.reshape(targets, -1))
    b = node.get("intercepts")
    y = F.linear(x, W, None if b is None else like(x, np.array(b, "f")))
    return transformed(y, node.get("post_transform", "NONE"))


LOOK_UP: dict[str, Any] = {
    "ai.onnx.ml.ArrayFeatureExtractor": _extract,
    "ai.onnx.ml.CategoryMapper": _category,
    "ai.onnx.ml.LabelEncoder": _encode,
    "ai.onnx.ml.OneHotEncoder": _one_hot,
}
"""Those that take text, too."""

OPERATORS: dict[str, Any] = {
    **LOOK_UP,
    "ai.onnx.ml.Binarizer": _binarize,
    "ai.onnx.ml.FeatureVectorizer": _features,
    "ai.onnx.ml.Imputer": _impute,
    "ai.onnx.ml.LinearRegressor": _regress,
    "ai.onnx.ml.Normalizer": _normalize,
    "ai.onnx.ml.Scaler": _scale,
}
