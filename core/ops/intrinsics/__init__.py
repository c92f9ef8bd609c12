"""The few operations behind the operators: the smallest set that is closed under its own backward.

Plugins re-export them (`F.matmul`, `F.sum`, ...), so there is one operation of each meaning. Each
proves itself like any plugin's: see tests/test_ops.py.
"""

from core.ops.intrinsics import operators as operators
from core.ops.intrinsics.arithmetic import Absolute as Absolute
from core.ops.intrinsics.arithmetic import Add as Add
from core.ops.intrinsics.arithmetic import Divide as Divide
from core.ops.intrinsics.arithmetic import Multiply as Multiply
from core.ops.intrinsics.arithmetic import Negative as Negative
from core.ops.intrinsics.arithmetic import Power as Power
from core.ops.intrinsics.arithmetic import Subtract as Subtract
from core.ops.intrinsics.broadcasting import BroadcastTo as BroadcastTo
from core.ops.intrinsics.broadcasting import Sum as Sum
from core.ops.intrinsics.broadcasting import SumTo as SumTo
from core.ops.intrinsics.broadcasting import axes_of as axes_of
from core.ops.intrinsics.broadcasting import unbroadcast as unbroadcast
from core.ops.intrinsics.casting import Cast as Cast
from core.ops.intrinsics.casting import arrays_in as arrays_in
from core.ops.intrinsics.casting import cast as cast
from core.ops.intrinsics.casting import is_complex as is_complex
from core.ops.intrinsics.casting import refuse_complex as refuse_complex
from core.ops.intrinsics.constants import AddConstant as AddConstant
from core.ops.intrinsics.constants import ConstantPower as ConstantPower
from core.ops.intrinsics.constants import DivideConstant as DivideConstant
from core.ops.intrinsics.constants import DivideFromConstant as DivideFromConstant
from core.ops.intrinsics.constants import MultiplyConstant as MultiplyConstant
from core.ops.intrinsics.constants import PowerConstant as PowerConstant
from core.ops.intrinsics.constants import SubtractConstant as SubtractConstant
from core.ops.intrinsics.constants import SubtractFromConstant as SubtractFromConstant
from core.ops.intrinsics.indexing import GetItem as GetItem
from core.ops.intrinsics.indexing import ScatterAdd as ScatterAdd
from core.ops.intrinsics.indexing import SetItem as SetItem
from core.ops.intrinsics.products import MatMul as MatMul
from core.ops.intrinsics.shapes import Reshape as Reshape
from core.ops.intrinsics.shapes import Transpose as Transpose
from core.ops.intrinsics.standard import astype as astype
from core.ops.intrinsics.standard import broadcast_to as broadcast_to
from core.ops.intrinsics.standard import getitem as getitem
from core.ops.intrinsics.standard import matmul as matmul
from core.ops.intrinsics.standard import matrix_transpose as matrix_transpose
from core.ops.intrinsics.standard import reshape as reshape
from core.ops.intrinsics.standard import sum as sum
from core.ops.intrinsics.standard import transpose as transpose
from core.ops.intrinsics.standard import unshared as unshared
