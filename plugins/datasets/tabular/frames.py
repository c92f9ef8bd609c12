"""Columns of pandas and of Arrow as arrays, without a copy where their memory allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from plugins.extras import need

KINDS = "biuf"


def columns_of(data: Any) -> Any:
    """A dict of the columns of a DataFrame or a table; other data as it is."""
    if _library(data) == "pandas" and hasattr(data, "columns"):
        names = _told_apart([str(name) for name in data.columns])
        return {name: data.iloc[:, i] for i, name in enumerate(names)}
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "column_names"):
        table = _arrow().table(data)
        return dict(zip(_told_apart(table.column_names), table.columns, strict=True))
    return data


def _told_apart(names: list[str]) -> list[str]:
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(
                f"from_data: expected columns whose names differ, got {count} called {name!r}."
            )
    return names


def values_of(name: str, column: Any) -> Any:
    """The array of a column of pandas or Arrow, or a list of text; other columns as they are."""
    if _library(column) == "pandas" and hasattr(column, "to_numpy"):
        return _from_pandas(name, column)
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        return _from_arrow(name, column)
    return column


def _library(x: Any) -> str:
    return type(x).__module__.partition(".")[0]


def _arrow() -> Any:
    return need("pyarrow", "table", "datasets.from_data")


def _refusal(name: str, got: object, cure: str) -> ValueError:
    return ValueError(
        f"from_data: expected numbers, truth values or text in the column {name!r}, got {got}; "
        f"{cure}."
    )


def _from_pandas(name: str, column: Any) -> Any:
    dtype = column.dtype
    own = not hasattr(dtype, "na_value")  # one of NumPy's, in which NaN is a number
    missing = 0 if own and dtype.kind in KINDS else int(column.isna().sum())
    if missing:
        raise _refusal(name, f"{missing} missing values", "fill them by fillna, or drop the rows")
    if dtype.kind in KINDS:
        return column.to_numpy(dtype if own else getattr(dtype, "numpy_dtype", None))
    return _text(name, column.tolist, dtype, "categories have .cat.codes, times .astype('int64')")


def _from_arrow(name: str, column: Any) -> Any:
    arrow = _arrow()
    types = arrow.types
    if not isinstance(column, (arrow.Array, arrow.ChunkedArray)):
        column = arrow.chunked_array(column)
    _refuse_missing(name, column)
    if isinstance(column, arrow.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    kind, shape = column.type, [len(column)]
    while types.is_fixed_size_list(kind):  # one array of a shape in each row
        shape, column, kind = [*shape, kind.list_size], column.flatten(), kind.value_type
        _refuse_missing(name, column)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return column.to_numpy(zero_copy_only=False).reshape(shape)
    return _text(name, column.to_pylist, kind, "cast it, or decode dictionaries")


def _refuse_missing(name: str, column: Any) -> None:
    if column.null_count:
        missing = f"{column.null_count} missing values"
        raise _refusal(name, missing, "fill them by fill_null, or drop the rows")


def _text(name: str, values: Callable[[], list[Any]], kind: object, cure: str) -> list[Any]:
    found = values()
    if not all([isinstance(text, str) for text in found]):
        raise _refusal(name, kind, cure)
    return found
