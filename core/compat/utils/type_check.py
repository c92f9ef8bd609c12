"""The type-check language under the name that functions import it by; see `core.type_check`."""

from core.ops.types.type_check import *  # noqa: F403
from core.ops.types.type_check import __all__ as __all__
