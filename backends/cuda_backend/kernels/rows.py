"""Rows added into places of a table, as gradients of embeddings are: in order, none atomically."""

from __future__ import annotations

from functools import cache

from backends.cuda_backend.kernels.source import Parameter, Source
from backends.cuda_backend.kernels.words import COMPUTED, STORED

THREADS = 256
_ROUNDED = {"float16": "as_f16({})", "bfloat16": "as_bf16({})"}

_LOOP = """
  const long long step = (long long)gridDim.x * blockDim.x;
  long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;"""

_RANK = f"""{_LOOP}
  for (; t < count; t += step) {{
    const long long place = places[t], begin = t / width * width;
    const long long end = begin + width < count ? begin + width : count;
    long long at = begin;
    for (long long j = begin; j < end; j++)
      at += places[j] < place || (places[j] == place && j < t);
    sorted[at] = place;
    order[at] = t;
  }}
"""

_MERGE = f"""{_LOOP}
  for (; t < count; t += step) {{
    const long long run = t / width, place = places[t];
    const bool second = run % 2;
    const long long other = (second ? run - 1 : run + 1) * width;
    const long long begin = other < count ? other : count;
    const long long end = begin + width < count ? begin + width : count;
    long long low = begin, high = end;
    while (low < high) {{
      const long long middle = low + (high - low) / 2;
      if (places[middle] < place || (second && places[middle] == place)) low = middle + 1;
      else high = middle;
    }}
    const long long at = (second ? t - width : t) + low - begin;
    sorted[at] = place;
    ranked[at] = order[t];
  }}
"""

_ADD = """{loop}
  for (; t < count * width; t += step) {{
    const long long i = t / width, column = t % width, place = places[i];
    if (place < 0 || place >= rows || (i > 0 && places[i - 1] == place)) continue;
    {kind} total = get(table, place * width + column);
    for (long long j = i; j < count && places[j] == place; j++)
      total = {added};
    put(table, place * width + column, total);
  }}
"""


@cache
def rank() -> Source:
    """`rank(places, sorted, order, count, width)`: runs of places in order, and where each stood.

    Each thread counts what comes before a place in its run.
    """
    arrays = *_read("places"), *_written("sorted", "order")
    return Source("rank", (*arrays, *_SIZES), _RANK)


@cache
def merge() -> Source:
    """`merge(places, order, sorted, ranked, count, width)`: each two runs become one.

    Each thread looks for how many of the other run come before its place; of equal ones the first
    run's do. Nobody waits, as for a sort that asks the host what to launch.
    """
    arrays = *_read("places", "order"), *_written("sorted", "ranked")
    return Source("merge", (*arrays, *_SIZES), _MERGE)


_SIZES = tuple([Parameter("long long", name) for name in ("count", "width")])


def _read(*names: str) -> tuple[Parameter, ...]:
    return tuple([Parameter("const long long*", name) for name in names])


def _written(*names: str) -> tuple[Parameter, ...]:
    return tuple([Parameter("long long*", name) for name in names])


@cache
def add_rows(dtype: str) -> Source:
    """`add_rows(table, values, places, order, count, width, rows)`.

    Row `order[i]` of `values` goes to row `places[i]` of `table`; `places` are sorted. One thread
    adds all that comes to an element, in this order. Places outside of the table are passed over.
    """
    kind, stored = COMPUTED[dtype], STORED[dtype]
    total = "total + get(values, order[j] * width + column)"
    parameters = (
        Parameter(f"{stored}*", "table"),
        Parameter(f"const {stored}*", "values"),
        *_read("places", "order"),
        *[Parameter("long long", name) for name in ("count", "width", "rows")],
    )
    added = _ROUNDED.get(dtype, "{}").format(total)
    return Source("add_rows", parameters, _ADD.format(loop=_LOOP, kind=kind, added=added))
