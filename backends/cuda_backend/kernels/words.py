"""CUDA C for numbers: how dtypes lie in memory and in registers, and functions of them.

Numbers of 16 bits are computed with as floats, and rounded after each step, as NumPy rounds them.
The text needs no header, so that NVRTC alone compiles it. It is C++ as well: with a few macros for
what CUDA adds, a compiler for CPUs takes it, by which the tests compute with the very same words.
"""

from __future__ import annotations

STORED = {
    "bool": "bool",
    "int32": "int",
    "int64": "long long",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "float",
    "float64": "double",
}
"""The dtypes that loops know, and their types in memory."""

COMPUTED = STORED | {"float16": "float", "bfloat16": "float"}
"""Their types in registers."""

PRELUDE = """
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };

#ifdef __CUDACC_RTC__
__device__ inline float as_float(unsigned x) { return __uint_as_float(x); }
__device__ inline unsigned as_bits(float x) { return __float_as_uint(x); }
__device__ inline float widened(f16 x) {
  float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y;
}
__device__ inline f16 narrowed(float x) {
  f16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y;
}
__device__ inline double infinite() { return __longlong_as_double(0x7ff0000000000000LL); }
#endif

__device__ inline float widened(bf16 x) { return as_float((unsigned)x.bits << 16); }
__device__ inline bf16 shortened(float x) {
  const unsigned bits = as_bits(x);
  bf16 y;
  y.bits = x != x ? (bits >> 16) | 64 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return y;
}
__device__ inline float as_f16(float x) { return widened(narrowed(x)); }
__device__ inline float as_bf16(float x) { return widened(shortened(x)); }

template <class T> __device__ inline T get(const T* p, long long i) { return p[i]; }
__device__ inline float get(const f16* p, long long i) { return widened(p[i]); }
__device__ inline float get(const bf16* p, long long i) { return widened(p[i]); }
template <class T> __device__ inline void put(T* p, long long i, T x) { p[i] = x; }
__device__ inline void put(f16* p, long long i, float x) { p[i] = narrowed(x); }
__device__ inline void put(bf16* p, long long i, float x) { p[i] = shortened(x); }

template <class T> __device__ inline T larger(T a, T b) { return a >= b || a != a ? a : b; }
template <class T> __device__ inline T smaller(T a, T b) { return a <= b || a != a ? a : b; }
template <class T> __device__ inline T magnitude(T x) { return x < 0 ? -x : x; }
__device__ inline float magnitude(float x) { return fabsf(x); }
__device__ inline double magnitude(double x) { return fabs(x); }
template <class T> __device__ inline T sign(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x + T(0); }
template <class T> __device__ inline bool finite_number(T x) { return x - x == 0; }
template <class T> __device__ inline T log_of_sum(T a, T b) {
  const T d = a - b;
  if (a == b) return a + T(0.693147180559945309417232121458176568);
  return d > 0 ? a + log1p(exp(-d)) : d <= 0 ? b + log1p(exp(d)) : d;
}
"""

FUNCTIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "truediv": "{0} / {1}",
    "neg": "-{0}",
    "pos": "{0}",
    "abs": "magnitude({0})",
    "sign": "sign({0})",
    "square": "{0} * {0}",
    "reciprocal": "1 / {0}",
    "sqrt": "sqrt({0})",
    "pow": "pow({0}, {1})",
    "maximum": "larger({0}, {1})",
    "minimum": "smaller({0}, {1})",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "and_": "{0} && {1}",
    "or_": "{0} || {1}",
    "xor": "{0} != {1}",
    "invert": "!{0}",
    "isnan": "{0} != {0}",
    "isfinite": "finite_number({0})",
    "where": "{0} ? {1} : {2}",
    "clip": "smaller(larger({0}, {1}), {2})",
    "exp": "exp({0})",
    "exp2": "exp2({0})",
    "expm1": "expm1({0})",
    "log": "log({0})",
    "log1p": "log1p({0})",
    "log2": "log2({0})",
    "log10": "log10({0})",
    "logaddexp": "log_of_sum({0}, {1})",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "tan": "tan({0})",
    "asin": "asin({0})",
    "acos": "acos({0})",
    "atan": "atan({0})",
    "atan2": "atan2({0}, {1})",
    "sinh": "sinh({0})",
    "cosh": "cosh({0})",
    "tanh": "tanh({0})",
    "asinh": "asinh({0})",
    "acosh": "acosh({0})",
    "atanh": "atanh({0})",
    "hypot": "hypot({0}, {1})",
    "floor": "floor({0})",
    "ceil": "ceil({0})",
    "trunc": "trunc({0})",
    "rint": "rint({0})",
    "same": "{0}",
}
"""What steps compute, of numbers in registers of one type."""

OF_BOOLEANS = {"add": "{0} || {1}", "mul": "{0} && {1}"}
"""The same, of booleans."""

COMPARED = frozenset(["lt", "le", "gt", "ge", "eq", "ne", "isnan", "isfinite"])
"""Those that give booleans."""

_ROUNDED = {"float16": "as_f16({})", "bfloat16": "as_bf16({})"}
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def rounded(text: str, dtype: str) -> str:
    """What a number is in its dtype, once it is computed."""
    return _ROUNDED[dtype].format(text) if dtype in _ROUNDED else text


def cast(text: str, before: str, dtype: str) -> str:
    """A number in another dtype."""
    if before == dtype:
        return text
    if dtype == "bool":
        return f"({text} != 0)"
    if dtype in _ROUNDED:
        return rounded(f"(float){text}", dtype)
    if COMPUTED[before] == COMPUTED[dtype]:
        return text
    return f"({COMPUTED[dtype]}){text}"


def computed(name: str, operands: list[str], taken: str, dtype: str) -> str:
    """A step of operands that are in the dtype `taken`, as a number of another dtype."""
    words = OF_BOOLEANS.get(name, FUNCTIONS[name]) if taken == "bool" else FUNCTIONS[name]
    text = f"({words.format(*operands)})"
    if name in COMPARED:
        return cast(text, "bool", dtype)
    return cast(rounded(text, taken), taken, dtype)
