"""Rows added into places of a table, as gradients of embeddings are: in order, none atomically."""

from __future__ import annotations

from functools import cache

from backends.cuda_backend.kernels.source import Parameter, Source
from backends.cuda_backend.kernels.words import COMPUTED, STORED

THREADS = 256
_RANKED = ("places", "sorted", "order")
_ROUNDED = {"float16": "as_f16({})", "bfloat16": "as_bf16({})"}

_LOOP = """
  const long long step = (long long)gridDim.x * blockDim.x;
  long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;"""

_RANK = f"""{_LOOP}
  for (; t < count; t += step) {{
    const long long place = places[t];
    long long before = 0;
    for (long long j = 0; j < count; j++)
      before += places[j] < place || (places[j] == place && j < t);
    sorted[before] = place;
    order[before] = t;
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
    """`rank(places, sorted, order, count)`: the places in order, and where each stood.

    Each thread counts what comes before a place, so that nobody waits, as for a sort.
    """
    arrays = [Parameter(f"{'const ' * (n == 'places')}long long*", n) for n in _RANKED]
    return Source("rank", (*arrays, Parameter("long long", "count")), _RANK)


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
        *[Parameter("const long long*", name) for name in ("places", "order")],
        *[Parameter("long long", name) for name in ("count", "width", "rows")],
    )
    added = _ROUNDED.get(dtype, "{}").format(total)
    return Source("add_rows", parameters, _ADD.format(loop=_LOOP, kind=kind, added=added))
