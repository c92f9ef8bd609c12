"""Arrays of any library: which backend one belongs to, where it lives, what its library lacks.

Start with `backend`, which finds and chooses backends; `array_backend` is what each of them offers.
"""

__all__ = [
    "array_backend",
    "backend",
    "einsum",
    "fallbacks",
    "host_random",
    "kernel_table",
    "known",
    "mixed",
    "random_streams",
    "scatter",
    "spec",
    "special",
    "windows",
]
