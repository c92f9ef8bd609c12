"""Arrays of any library: which backend one belongs to, where it lives, what its library lacks.

Start with `backend`, which finds and chooses backends; `array_backend` is what each of them offers,
beyond its library's namespace by default in the standard's words: `windows`, `scatter`, ...
"""

__all__ = ["array_backend", "backend", "mixed", "random_streams", "scatter", "spec", "windows"]
