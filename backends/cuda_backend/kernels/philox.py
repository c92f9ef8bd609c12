"""Random numbers on the device by Philox4x32-10, a counter-based generator, in CUDA C.

Four words come of each counter; its lower half is a place in the draw, its upper half the number
of the draw, and the key the seed. So a number follows from the stream's state and from where it
lies in the array, on whatever device, in whatever order it is computed. Of blocks of 1024 places
the first words stand first, then the second ones, and so on: so threads beside each other write
beside each other. Booleans are those that the NumPy backend's compiled loop draws.

Sources: Salmon et al. 2011 (SC11), "Parallel random numbers: as easy as 1, 2, 3"; Box and Muller
1958, "A note on the generation of random normal deviates".
"""

from __future__ import annotations

from functools import cache

from backends.cuda_backend.kernels.source import Parameter, Source
from backends.cuda_backend.kernels.words import COMPUTED, STORED

PLACES = 1024  # of a block, after which the next words of the same counters stand
THREADS = 256

PHILOX = """
struct Words { unsigned w[4]; };
__device__ inline Words philox(unsigned a, unsigned b, unsigned c, unsigned d,
                               unsigned key, unsigned other) {
  for (int i = 0; i < 10; i++) {
    const unsigned p = __umulhi(0xD2511F53u, a), q = 0xD2511F53u * a;
    const unsigned r = __umulhi(0xCD9E8D57u, c), s = 0xCD9E8D57u * c;
    a = r ^ b ^ key; b = s; c = p ^ d ^ other; d = q;
    key += 0x9E3779B9u; other += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}
__device__ inline float unit(unsigned w) { return (float)(w >> 8) * 5.9604644775390625e-8f; }
__device__ inline double unit(unsigned w, unsigned v) {
  return ((double)(w >> 5) * 67108864.0 + (double)(v >> 6)) * 1.1102230246251565e-16;
}
__device__ inline unsigned long long wide(unsigned w, unsigned v) {
  return (unsigned long long)v << 32 | w;
}
__device__ inline unsigned long long below(unsigned long long x, unsigned long long range) {
  if (!range) return x;
  const unsigned long long low = x & 0xffffffffu, high = x >> 32;
  const unsigned long long r = range & 0xffffffffu, s = range >> 32;
  const unsigned long long middle = high * r + (low * r >> 32);
  const unsigned long long cross = low * s + (middle & 0xffffffffu);
  return high * s + (middle >> 32) + (cross >> 32);
}
__device__ inline float radius(unsigned w) {
  return sqrt(-2.0f * log(((float)w + 1.0f) * 2.3283064365386963e-10f));
}
__device__ inline double radius(unsigned w, unsigned v) {
  return sqrt(-2.0 * log(unit(w, v) + 1.1102230246251565e-16));
}
"""

_BODY = """\
  const long long places = ((size + {block} - 1) / {block}) * {places};
  const long long stride = (long long)gridDim.x * blockDim.x;
  long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; p < places; p += stride) {{
    const Words x = philox((unsigned)p, (unsigned)(p >> 32), (unsigned)low, (unsigned)high,
                           (unsigned)key, (unsigned)other);
    const {kind} found[{each}] = {{{texts}}};
    const long long first = p / {places} * {block} + p % {places};
    for (int q = 0; q < {each}; q++) {{
      const long long i = first + q * {places};
      if (i < size) {put}
    }}
  }}
"""

_KEY = tuple([Parameter("long long", name) for name in ("size", "key", "other", "low", "high")])


def _source(
    name: str,
    kind: str,
    texts: list[str],
    written: tuple[Parameter, ...],
    more: tuple[Parameter, ...],
    put: str,
) -> Source:
    each = len(texts)
    body = _BODY.format(
        block=PLACES * each, places=PLACES, kind=kind, each=each, texts=", ".join(texts), put=put
    )
    return Source(name, (*written, *_KEY, *more), body, PHILOX)


def each(source: Source) -> int:
    """How many numbers a counter gives."""
    return 2 if "found[2]" in source.body else 4


_UNIT = {
    "float": [f"unit(x.w[{i}])" for i in range(4)],
    "double": ["unit(x.w[0], x.w[1])", "unit(x.w[2], x.w[3])"],
}
_TURN = {"float": "6.283185307179586f", "double": "6.283185307179586"}


def _y(dtype: str) -> tuple[Parameter, ...]:
    return (Parameter(f"{STORED[dtype]}*", "y"),)


def _doubles(*names: str) -> tuple[Parameter, ...]:
    return tuple([Parameter("double", name) for name in names])


@cache
def uniform(dtype: str) -> Source:
    """`uniform(y, size, *key, from, width, last)`: from [from, from + width), at most `last`."""
    kind = COMPUTED[dtype]
    put = f"put(y, i, smaller(found[q] * ({kind})width + ({kind})from, ({kind})last));"
    return _source("uniform", kind, _UNIT[kind], _y(dtype), _doubles("from", "width", "last"), put)


@cache
def normal(dtype: str) -> Source:
    """`normal(y, size, *key)`: mean 0 and standard deviation 1."""
    kind = COMPUTED[dtype]
    if kind == "float":
        pairs = [("radius(x.w[0])", "unit(x.w[1])"), ("radius(x.w[2])", "unit(x.w[3])")]
    else:
        pairs = [("radius(x.w[0], x.w[1])", "unit(x.w[2], x.w[3])")]
    texts = [f"{r} * {f}({_TURN[kind]} * {u})" for r, u in pairs for f in ("cos", "sin")]
    return _source("normal", kind, texts, _y(dtype), (), "put(y, i, found[q]);")


@cache
def bernoulli() -> Source:
    """`bernoulli(y, size, *key, dropped)`: true where a word is not below `dropped`."""
    texts = [f"(long long)x.w[{i}] >= dropped" for i in range(4)]
    more = (Parameter("long long", "dropped"),)
    return _source("bernoulli", "bool", texts, _y("bool"), more, "put(y, i, found[q]);")


@cache
def integers() -> Source:
    """`integers(y, size, *key, from, range)`: from [from, from + range); of range the bits count.

    A range of 0 is one of 2^64. The sum is one of unsigned numbers, which may go beyond their end.
    """
    words = [f"wide(x.w[{i}], x.w[{i + 1}])" for i in (0, 2)]
    unsigned = "(unsigned long long)"
    texts = [f"(long long)(below({w}, {unsigned}range) + {unsigned}from)" for w in words]
    more = (Parameter("long long", "from"), Parameter("long long", "range"))
    return _source("integers", "long long", texts, _y("int64"), more, "put(y, i, found[q]);")


@cache
def dropout(dtype: str) -> Source:
    """`dropout(mask, y, given, size, *key, dropped, scale)`: a mask, and the array times it."""
    kind = COMPUTED[dtype]
    stored = STORED[dtype]
    texts = [f"(long long)x.w[{i}] >= dropped ? ({kind})scale : ({kind})0" for i in range(4)]
    arrays = (
        Parameter(f"{stored}*", "mask"),
        Parameter(f"{stored}*", "y"),
        Parameter(f"const {stored}*", "given"),
    )
    more = (Parameter("long long", "dropped"), *_doubles("scale"))
    put = "{ put(mask, i, found[q]); put(y, i, get(given, i) * found[q]); }"
    return _source("dropout", kind, texts, arrays, more, put)


def words_of(key: int) -> tuple[int, int, int, int]:
    """A key of 128 bits as two words for the generator's key and two for the counter."""
    return tuple([key >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)])  # type: ignore[return-value]


def dropped(p: float) -> int:
    """How many of the 2^32 words are none of those that come with probability p."""
    return round((1.0 - p) * 2**32)


def grid(source: Source, size: int) -> tuple[int, int]:
    """How many blocks of threads draw so many numbers."""
    places = -(-size // (PLACES * each(source))) * PLACES
    return min(places // THREADS, 1 << 16), 1
