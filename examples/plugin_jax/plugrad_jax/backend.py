"""What is known of JAX before anybody asks for it: importing this does not import JAX."""

from importlib.util import find_spec
from typing import Any

from core.arrays.backend import Backend


class JaxBackend(Backend):
    """The arrays of JAX, which is imported when the one object of this is made."""

    name = "jax"
    library = "jax"

    def __new__(cls) -> Any:
        from plugrad_jax.arrays import Arrays

        return super().__new__(Arrays)

    @classmethod
    def unavailable(cls) -> str | None:
        """Why it cannot be used here, or None."""
        return None if find_spec("jax") else "JAX is not installed: pip install jax."
