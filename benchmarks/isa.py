"""Narrower vectors than the processor has, for every framework alike.

All libraries choose their code by the processor when they are loaded, and each can be told by a
variable of its own to take that of an older one: so a machine with AVX-512 measures what one with
AVX2 would, but for its clock and caches.
"""

AVX2 = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL",
    "NUMBA_CPU_NAME": "haswell",
    # Without them numba takes the processor's own beside the older one's name.
    "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe,+popcnt",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
}
ISAS = {"avx2": AVX2}
FRAMEWORKS = ("torch", "numpy")
"""Whose libraries all heed these variables."""
