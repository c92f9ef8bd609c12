"""The array standard's extension for linear algebra, on Variables.

Matrices are the last two axes, and the axes before them a stack; all of it is differentiable.
Where a decomposition leaves signs open they are chosen, so that every backend gives the same.
"""

import sys

from plugins.functions.array.axis_order import matrix_transpose as matrix_transpose
from plugins.functions.namespace.linalg.eigenvalues import eigh as eigh
from plugins.functions.namespace.linalg.eigenvalues import eigvalsh as eigvalsh
from plugins.functions.namespace.linalg.equations import cholesky as cholesky
from plugins.functions.namespace.linalg.equations import det as det
from plugins.functions.namespace.linalg.equations import inv as inv
from plugins.functions.namespace.linalg.equations import matrix_power as matrix_power
from plugins.functions.namespace.linalg.equations import slogdet as slogdet
from plugins.functions.namespace.linalg.equations import solve as solve
from plugins.functions.namespace.linalg.inverse import matrix_rank as matrix_rank
from plugins.functions.namespace.linalg.inverse import pinv as pinv
from plugins.functions.namespace.linalg.norms import matrix_norm as matrix_norm
from plugins.functions.namespace.linalg.norms import vector_norm as vector_norm
from plugins.functions.namespace.linalg.qr import qr as qr
from plugins.functions.namespace.linalg.singular_values import svd as svd
from plugins.functions.namespace.linalg.singular_values import svdvals as svdvals
from plugins.functions.namespace.linalg.vectors import cross as cross
from plugins.functions.namespace.linalg.vectors import diagonal as diagonal
from plugins.functions.namespace.linalg.vectors import outer as outer
from plugins.functions.namespace.linalg.vectors import trace as trace
from plugins.functions.namespace.operators import matmul as matmul
from plugins.functions.namespace.products import tensordot as tensordot
from plugins.functions.namespace.products import vecdot as vecdot

extension = sys.modules[__name__]
"""The module itself, as the namespace's `linalg`."""
