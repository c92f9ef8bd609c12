"""The module of GoogLeNet with batch normalization, and without the large filters."""

from __future__ import annotations

from typing import Any

from core import Chain, Variable
from core import functions as F
from core.errors.kinds import checked
from core.link.initializer import InitializerSpec
from core.typing import Array, Count, DType
from plugins.links.connection.convolution import Convolution2D
from plugins.links.normalization.batch_normalization import BatchNormalization


class InceptionBN(Chain):
    r"""Parallel convolutions of size 1, 3 and twice 3 and a pooling, all normalized.

    With :math:`C_k` a convolution of size k, a batch normalization and a rectifier, and [...]
    joining channels:

    .. math:: y = [C_1(x),\ C_3(C_1(x)),\ C_3(C_3(C_1(x))),\ C_1(\mathrm{pool}_3(x))]

    Args:
        in_channels: Channels of the input; None takes it from the first input.
        out1: Channels of the output of the convolution of size 1; 0 leaves it out.
        proj3: Channels that the convolution of size 3 sees.
        out3: Channels of its output.
        proj33: Channels that the two convolutions of size 3 in a row see.
        out33: Channels of the output of each.
        pooltype: 'max' or 'avg'.
        proj_pool: Channels that are made of the pooled input; None leaves it as it is.
        stride: Distance of neighbouring windows; other than 1 only with out1 = 0 and no proj_pool.
        conv_init: Initializer of all W, or a number; LeCunNormal by default.
        dtype: Dtype of the normalizations; None is `core.config.dtype`.

    Its children are `conv1`, `proj3`, `conv3`, `proj33`, `conv33a`, `conv33b` and `poolp`, which
    have no bias; each has its normalization, of the same name with an `n`, and a rectifier behind
    it. Shapes: x (n, in_channels, h, w) floating; y (n, out1 + out3 + out33 + proj_pool, h', w').

    Source: Ioffe and Szegedy 2015 (arXiv:1502.03167), appendix.

    >>> import core.links as L, numpy as np
    >>> module = L.InceptionBN(None, 2, 1, 3, 1, 4, "avg", 1)
    >>> module(np.ones((2, 2, 6, 6), "f")).shape
    (2, 10, 6, 6)
    >>> smaller = L.InceptionBN(2, 0, 1, 3, 1, 4, "max", stride=2)
    >>> smaller(np.ones((2, 2, 6, 6), "f")).shape
    (2, 9, 3, 3)
    """

    @checked
    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj33: int,
        out33: int,
        pooltype: str,
        proj_pool: int | None = None,
        stride: Count = 1,
        conv_init: InitializerSpec = None,
        dtype: DType = None,
    ) -> None:
        super().__init__()
        if pooltype not in ("max", "avg"):
            raise ValueError(
                f"links.InceptionBN: expected a pooltype of 'max' or 'avg', got {pooltype!r}."
            )
        if out1 > 0 and (stride != 1 or proj_pool is None):
            raise ValueError(
                "links.InceptionBN: expected stride 1 and a proj_pool where out1 is not 0, got "
                f"stride {stride} and proj_pool {proj_pool}. Give out1=0 to shrink the images."
            )
        self.out1, self.proj_pool = out1, proj_pool
        self.pooltype, self.stride = pooltype, stride
        self._made_with: dict[str, Any] = {"nobias": True, "initialW": conv_init}
        self._dtype = dtype
        self._add("proj3", in_channels, proj3, 1)
        self._add("conv3", proj3, out3, 3, stride, 1)
        self._add("proj33", in_channels, proj33, 1)
        self._add("conv33a", proj33, out33, 3, 1, 1)
        self._add("conv33b", out33, out33, 3, stride, 1)
        if out1 > 0:  # not first: with one seed the weights are those of Chainer's
            self._add("conv1", in_channels, out1, 1)
        if proj_pool is not None:
            self._add("poolp", in_channels, proj_pool, 1)

    def _add(self, name: str, i: int | None, o: int, k: int, stride: int = 1, pad: int = 0) -> None:
        """Add a convolution and its normalization."""
        self.add_link(name, Convolution2D(i, o, k, stride, pad, **self._made_with))
        self.add_link(f"{name}n", BatchNormalization(o, dtype=self._dtype))

    def _through(self, x: Any, *names: str) -> Any:
        """Apply convolutions in a row, each normalized and rectified."""
        for name in names:
            x = F.relu(self[f"{name}n"](self[name](x)))
        return x

    def _pooled(self, x: Any) -> Any:
        if self.pooltype == "max":
            x = F.max_pooling_2d(x, 3, stride=self.stride, pad=1, cover_all=False)
        else:
            x = F.average_pooling_2d(x, 3, stride=self.stride, pad=1)
        return x if self.proj_pool is None else self._through(x, "poolp")

    def forward(self, x: Array) -> Variable:
        """Apply the module to images (n, in_channels, h, w)."""
        branches = [self._through(x, "conv1")] if self.out1 > 0 else []
        branches += [
            self._through(x, "proj3", "conv3"),
            self._through(x, "proj33", "conv33a", "conv33b"),
            self._pooled(x),
        ]
        return F.concat(branches, axis=1)
