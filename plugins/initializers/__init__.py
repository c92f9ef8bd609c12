"""The bundled initializers."""

from core import hookimpl
from core.registry import lazily

provides = {
    "constant": "Constant Zero One NaN Identity",
    "normal": "Normal TruncatedNormal LeCunNormal GlorotNormal HeNormal",
    "uniform": "Uniform LeCunUniform GlorotUniform HeUniform",
    "orthogonal": "Orthogonal",
    "interpolation": "UpsamplingDeconvFilter DownsamplingConvFilter",
}


@hookimpl
def register_initializers() -> dict[str, str]:
    """Name -> where it is."""
    return {
        **lazily(__name__, provides),
        "Initializer": "core.link.initializer:Initializer",
        "generate_array": "core.link.initializer:generate_array",
    }
