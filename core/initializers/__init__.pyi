"""What `core.initializers` offers; written by `plugrad stubs`, not by hand."""

from core.link.initializer import Initializer as Initializer
from core.link.initializer import generate_array as generate_array
from core.registry import Offer
from plugins.initializers.constant import Constant as Constant
from plugins.initializers.constant import Identity as Identity
from plugins.initializers.constant import NaN as NaN
from plugins.initializers.constant import One as One
from plugins.initializers.constant import Zero as Zero
from plugins.initializers.interpolation import DownsamplingConvFilter as DownsamplingConvFilter
from plugins.initializers.interpolation import UpsamplingDeconvFilter as UpsamplingDeconvFilter
from plugins.initializers.normal import GlorotNormal as GlorotNormal
from plugins.initializers.normal import HeNormal as HeNormal
from plugins.initializers.normal import LeCunNormal as LeCunNormal
from plugins.initializers.normal import Normal as Normal
from plugins.initializers.normal import TruncatedNormal as TruncatedNormal
from plugins.initializers.orthogonal import Orthogonal as Orthogonal
from plugins.initializers.uniform import GlorotUniform as GlorotUniform
from plugins.initializers.uniform import HeUniform as HeUniform
from plugins.initializers.uniform import LeCunUniform as LeCunUniform
from plugins.initializers.uniform import Uniform as Uniform

def of(distribution: str) -> Offer: ...
