"""Small tools that functions and links share: convolutions, scalars as arrays, sampling."""

from __future__ import annotations

from core.compat import type_check as type_check
from core.compat.utils import argument as argument
from core.compat.utils import conv as conv
from core.compat.utils import walker_alias as walker_alias
from core.compat.utils.arrays import force_array as force_array
from core.compat.utils.arrays import force_type as force_type
from core.compat.utils.arrays import size_of_shape as size_of_shape
from core.compat.utils.arrays import sum_to as sum_to
from core.compat.utils.conv import get_conv_outsize as get_conv_outsize
from core.compat.utils.conv import get_deconv_outsize as get_deconv_outsize
from core.compat.utils.experimental import experimental as experimental
from core.compat.utils.experimental import nondeterministic as nondeterministic
from core.compat.utils.sparse import CooMatrix as CooMatrix
from core.compat.utils.sparse import get_order as get_order
from core.compat.utils.sparse import to_coo as to_coo
from core.compat.utils.walker_alias import WalkerAlias as WalkerAlias
from core.registry.public import exporting

__getattr__, __dir__ = exporting(__name__, {}, "argument conv sparse type_check walker_alias")
