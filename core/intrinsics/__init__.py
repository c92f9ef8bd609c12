"""The few operations behind the operators: the smallest set that is closed under its own backward.

Plugins re-export them (`F.matmul`, `F.sum`, ...), so there is one operation of each meaning. Each
proves itself like any plugin's: see tests/test_ops.py.
"""

from core.intrinsics import operators as operators
from core.intrinsics.arithmetic import Absolute as Absolute
from core.intrinsics.arithmetic import Add as Add
from core.intrinsics.arithmetic import Divide as Divide
from core.intrinsics.arithmetic import FloorDivide as FloorDivide
from core.intrinsics.arithmetic import Log as Log
from core.intrinsics.arithmetic import Multiply as Multiply
from core.intrinsics.arithmetic import Negative as Negative
from core.intrinsics.arithmetic import Power as Power
from core.intrinsics.arithmetic import Sign as Sign
from core.intrinsics.arithmetic import Subtract as Subtract
from core.intrinsics.arithmetic import Where as Where
from core.intrinsics.broadcasting import BroadcastTo as BroadcastTo
from core.intrinsics.broadcasting import Sum as Sum
from core.intrinsics.broadcasting import SumTo as SumTo
from core.intrinsics.broadcasting import axes_of as axes_of
from core.intrinsics.broadcasting import check_axes as check_axes
from core.intrinsics.casting import Cast as Cast
from core.intrinsics.comparisons import Equal as Equal
from core.intrinsics.comparisons import Greater as Greater
from core.intrinsics.comparisons import GreaterEqual as GreaterEqual
from core.intrinsics.comparisons import Less as Less
from core.intrinsics.comparisons import LessEqual as LessEqual
from core.intrinsics.comparisons import NotEqual as NotEqual
from core.intrinsics.constants import AddConstant as AddConstant
from core.intrinsics.constants import ConstantPower as ConstantPower
from core.intrinsics.constants import DivideConstant as DivideConstant
from core.intrinsics.constants import DivideFromConstant as DivideFromConstant
from core.intrinsics.constants import MultiplyConstant as MultiplyConstant
from core.intrinsics.constants import PowerConstant as PowerConstant
from core.intrinsics.constants import SubtractConstant as SubtractConstant
from core.intrinsics.constants import SubtractFromConstant as SubtractFromConstant
from core.intrinsics.indexing import GetItem as GetItem
from core.intrinsics.indexing import ScatterAdd as ScatterAdd
from core.intrinsics.indexing import SetItem as SetItem
from core.intrinsics.products import MatMul as MatMul
from core.intrinsics.shapes import Reshape as Reshape
from core.intrinsics.shapes import Transpose as Transpose
from core.intrinsics.standard import astype as astype
from core.intrinsics.standard import broadcast_to as broadcast_to
from core.intrinsics.standard import getitem as getitem
from core.intrinsics.standard import matmul as matmul
from core.intrinsics.standard import matrix_transpose as matrix_transpose
from core.intrinsics.standard import power as power
from core.intrinsics.standard import reshape as reshape
from core.intrinsics.standard import standard as standard
from core.intrinsics.standard import sum as sum
from core.intrinsics.standard import transpose as transpose
from core.intrinsics.standard import where as where
