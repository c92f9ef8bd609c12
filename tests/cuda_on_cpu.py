"""CUDA C on a CPU: the text of kernels as C++, whose blocks run one after the other.

What CUDA adds to C++ is a few macros. So kernels compute here, with the very text that NVRTC
compiles for GPUs: either by one thread of each block, or by as many threads of the machine as the
block has, which wait for each other where the kernel says so.
"""

import ctypes
import subprocess
import tempfile
from math import prod
from pathlib import Path

import numpy as np

from backends.cuda_backend.kernels.words import PRELUDE, STORED

_ONE = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin"]
_ONE += ["acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt", "floor", "ceil"]
_ONE += ["trunc", "rint"]
_TWO = ["pow", "atan2", "hypot"]

MATHEMATICS = (
    'extern "C" { double fabs(double); float fabsf(float);'
    "void* memcpy(void*, const void*, unsigned long);"
    + "".join([f"double {n}(double); float {n}f(float);" for n in _ONE])
    + "".join([f"double {n}(double, double); float {n}f(float, float);" for n in _TWO])
    + "}"
    + "".join([f"inline float {n}(float x) {{ return {n}f(x); }}" for n in _ONE])
    + "".join([f"inline float {n}(float x, float y) {{ return {n}f(x, y); }}" for n in _TWO])
)

MACROS = """
#define __global__
#define __device__
#define __shared__ static
#define __restrict__
struct dim3 { unsigned x, y; };
static dim3 gridDim, blockDim, blockIdx;
static unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a * b) >> 32);
}
static float as_float(unsigned x) { float y; memcpy(&y, &x, 4); return y; }
static unsigned as_bits(float x) { unsigned y; memcpy(&y, &x, 4); return y; }
static double infinite() { return __builtin_inf(); }
static float widened(struct f16 x);
static struct f16 narrowed(float x);
"""

HALVES = """
static float widened(f16 x) { _Float16 y; memcpy(&y, &x, 2); return y; }
static f16 narrowed(float x) { _Float16 h = x; f16 y; memcpy(&y, &h, 2); return y; }
"""

ALONE = """
static dim3 threadIdx;
static void __syncthreads() {}
"""

RUN_ALONE = """
template <class F> static void launched(const int* sizes, F kernel) {
  gridDim = {(unsigned)sizes[0], (unsigned)sizes[1]};
  blockDim = {1, 1};
  for (unsigned b = 0; b < gridDim.x * gridDim.y; b++) {
    blockIdx = {b % gridDim.x, b / gridDim.x};
    kernel();
  }
}
"""

TOGETHER = """
#include <barrier>
#include <thread>
#include <vector>
static thread_local struct { unsigned x, y; } threadIdx;
static std::barrier<>* together;
static void __syncthreads() { together->arrive_and_wait(); }
"""

RUN_TOGETHER = """
template <class F> static void launched(const int* sizes, F kernel) {
  gridDim = {(unsigned)sizes[0], (unsigned)sizes[1]};
  blockDim = {(unsigned)sizes[2], (unsigned)sizes[3]};
  const unsigned threads = blockDim.x * blockDim.y;
  for (unsigned b = 0; b < gridDim.x * gridDim.y; b++) {
    blockIdx = {b % gridDim.x, b / gridDim.x};
    std::barrier<> barrier(threads);
    together = &barrier;
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; t++)
      all.emplace_back([&, t] { threadIdx = {t % blockDim.x, t / blockDim.x}; kernel(); });
    for (auto& each : all) each.join();
  }
}
"""


def text(sources, threads):
    """All kernels in one file, each in a namespace, with a function that unpacks its arguments."""
    prelude = PRELUDE.replace("#ifdef", f"{HALVES}\n#ifdef", 1)
    mathematics = "#include <math.h>\n#include <string.h>" + TOGETHER if threads else MATHEMATICS
    parts = [mathematics, MACROS, "" if threads else ALONE, prelude]
    parts.append(RUN_TOGETHER if threads else RUN_ALONE)
    for i, source in enumerate(sources):
        listed = ", ".join(map(str, source.parameters))
        taken = ", ".join([_taken(p.type, j) for j, p in enumerate(source.parameters)])
        parts.append(
            f"namespace n{i} {{\n{source.preamble}\n"
            f"static void {source.name}({listed}) {{\n{source.body}}}\n}}\n"
            f'extern "C" void run{i}(const int* sizes, void** args) {{\n'
            f"  launched(sizes, [&] {{ n{i}::{source.name}({taken}); }});\n}}\n"
        )
    return "\n".join(parts)


def _taken(kind, j):
    plain = kind.replace("__restrict__", "").strip()
    return f"({plain})args[{j}]" if plain.endswith("*") else f"*({plain}*)args[{j}]"


def compiled(sources, threads=False):
    """A function for each source: of a grid, a block and arguments, as CuPy's kernels take them."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "kernels.so"
        command = ["g++", "-std=c++20", "-O1" if threads else "-O0", "-w", "-ffp-contract=off"]
        command += ["-shared", "-fPIC", "-pthread", "-x", "c++", "-o", str(library), "-"]
        subprocess.run(command, input=text(sources, threads).encode(), check=True)
        loaded = ctypes.CDLL(str(library))
    return [_Launch(getattr(loaded, f"run{i}"), source) for i, source in enumerate(sources)]


_NUMBERS = {"double": (float, ctypes.c_double), "long long": (int, ctypes.c_longlong)}
"""What CuPy makes of Python's numbers, whatever the kernel takes."""
_MOST = 2**31 - 1, 2**16 - 1
"""Blocks that CUDA launches along each axis."""


class _Launch:
    """A kernel, called as one of CuPy's: with what a GPU would not take, it fails."""

    def __init__(self, function, source):
        self._function = function
        self.source = source

    def __call__(self, grid, block, args):
        held, pointers = [], []
        assert all([1 <= n <= most for n, most in zip(grid, _MOST, strict=True)])
        assert min(block) >= 1 and prod(block) <= 1024
        for parameter, arg in zip(self.source.parameters, args, strict=True):
            if "*" in parameter.type:
                assert isinstance(arg, np.ndarray) and arg.flags.c_contiguous
                of = parameter.type.split("*")[0].removeprefix("const ")
                assert STORED[arg.dtype.name] == of
                pointers.append(arg.ctypes.data)
            else:
                kind, number = _NUMBERS[parameter.type]
                assert type(arg) is kind and number(arg).value == arg or arg != arg
                held.append(number(arg))
                pointers.append(ctypes.addressof(held[-1]))
        sizes = (ctypes.c_int * 4)(*grid, *block)
        self._function(sizes, (ctypes.c_void_p * len(pointers))(*pointers))


class Kernels:
    """What stands in for CuPy's compiler: the same text, compiled for the CPU."""

    def __init__(self, threads=False):
        self.threads = threads
        self.known = {}

    def ready(self, source):
        if source not in self.known:
            (self.known[source],) = compiled([source], self.threads)
        return self.known[source]
