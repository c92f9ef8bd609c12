"""The activations without parameters, as links."""

from __future__ import annotations

from core import Variable
from core import functions as F
from core.typing import Array
from plugins.links.function_link import FunctionLink


class ReLU(FunctionLink):
    r"""The rectifier: `F.relu` as a link.

    .. math:: y = \max(x, 0)

    Shapes: x any, floating; y that of x.

    Source: Nair and Hinton 2010, ICML.

    >>> import core.links as L, numpy as np
    >>> L.ReLU()(np.array([-1, 2], "f"))
    variable([0., 2.], dtype=float32)
    """

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.relu(x)


class LeakyReLU(FunctionLink):
    r"""The leaky rectifier: `F.leaky_relu` as a link.

    .. math:: y = x \text{ for } x \ge 0, \text{ else } a x

    Args:
        slope: The factor a for negative elements.

    Shapes: x any, floating; y that of x.

    Source: Maas et al. 2013, ICML workshop.

    >>> import core.links as L, numpy as np
    >>> L.LeakyReLU(0.5)(np.array([-2, 3], "f"))
    variable([-1.,  3.], dtype=float32)
    """

    slope: float = 0.2

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.leaky_relu(x, self.slope)


class ClippedReLU(FunctionLink):
    r"""The rectifier with a ceiling: `F.clipped_relu` as a link; ReLU6 with z = 6.

    .. math:: y = \min(\max(x, 0), z)

    Args:
        z: The ceiling.

    Shapes: x any, floating; y that of x.

    Source: Hannun et al. 2014 (arXiv:1412.5567), section 2.

    >>> import core.links as L, numpy as np
    >>> L.ClippedReLU(6)(np.array([-1, 3, 9], "f"))
    variable([0., 3., 6.], dtype=float32)
    """

    z: float = 20.0

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.clipped_relu(x, self.z)


class ELU(FunctionLink):
    r"""The exponential linear unit: `F.elu` as a link.

    .. math:: y = x \text{ for } x \ge 0, \text{ else } \alpha (e^x - 1)

    Args:
        alpha: The limit :math:`\alpha` below, negated.

    Shapes: x any, floating; y that of x.

    Source: Clevert et al. 2016 (arXiv:1511.07289).

    >>> import core.links as L, numpy as np
    >>> L.ELU()(np.array([-100, 2], "f"))
    variable([-1.,  2.], dtype=float32)
    """

    alpha: float = 1.0

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.elu(x, self.alpha)


class SELU(FunctionLink):
    r"""The exponential linear unit that keeps mean 0 and variance 1: `F.selu` as a link.

    .. math:: y = s\, x \text{ for } x \ge 0, \text{ else } s\, \alpha (e^x - 1)

    Args:
        alpha: The limit :math:`\alpha` below, negated, before scaling.
        scale: The factor s.

    Shapes: x any, floating; y that of x.

    Source: Klambauer et al. 2017 (arXiv:1706.02515).

    >>> import core.links as L, numpy as np
    >>> L.SELU(scale=2.0)(np.array([0, 2], "f"))
    variable([0., 4.], dtype=float32)
    """

    alpha: float = 1.6732632423543772
    scale: float = 1.0507009873554805

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.selu(x, self.alpha, self.scale)


class GELU(FunctionLink):
    r"""The Gaussian error linear unit: `F.gelu` as a link.

    .. math:: y = \frac{x}{2} \left(1 + \mathrm{erf}(x / \sqrt 2)\right)

    Shapes: x any, floating; y that of x.

    Source: Hendrycks and Gimpel 2016 (arXiv:1606.08415).

    >>> import core.links as L, numpy as np
    >>> L.GELU()(np.array([0, 100], "f"))
    variable([  0., 100.], dtype=float32)
    """

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.gelu(x)


class SiLU(FunctionLink):
    r"""Inputs weighted by their own sigmoid: `F.silu` as a link. With a learnable slope: `Swish`.

    .. math:: y = \frac{x}{1 + e^{-x}}

    Shapes: x any, floating; y that of x.

    Source: Elfwing et al. 2018 (arXiv:1702.03118).

    >>> import core.links as L, numpy as np
    >>> L.SiLU()(np.array([0, 100], "f"))
    variable([  0., 100.], dtype=float32)
    """

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.silu(x)


class Softplus(FunctionLink):
    r"""The smooth rectifier: `F.softplus` as a link.

    .. math:: y = \log(1 + e^{\beta x}) / \beta

    Args:
        beta: The sharpness :math:`\beta` of the bend.

    Shapes: x any, floating; y that of x.

    Source: Dugas et al. 2001, NIPS 13.

    >>> import core.links as L, numpy as np
    >>> L.Softplus(beta=2.0)(np.array([100], "f"))
    variable([100.], dtype=float32)
    """

    beta: float = 1.0

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.softplus(x, self.beta)


class Sigmoid(FunctionLink):
    r"""The logistic function: `F.sigmoid` as a link.

    .. math:: y = \frac{1}{1 + e^{-x}}

    Shapes: x any, floating; y that of x.

    >>> import core.links as L, numpy as np
    >>> L.Sigmoid()(np.array([-100, 0, 100], "f")).array.round(6)
    array([0. , 0.5, 1. ], dtype=float32)
    """

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.sigmoid(x)


class HardSigmoid(FunctionLink):
    r"""A piecewise linear sigmoid: `F.hard_sigmoid` as a link.

    .. math:: y = \min(\max(0.2 x + 0.5, 0), 1)

    Shapes: x any, floating; y that of x.

    Source: Courbariaux et al. 2015 (arXiv:1511.00363), with another slope.

    >>> import core.links as L, numpy as np
    >>> L.HardSigmoid()(np.array([-3, 0, 3], "f"))
    variable([0. , 0.5, 1. ], dtype=float32)
    """

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.hard_sigmoid(x)


class Tanh(FunctionLink):
    r"""The hyperbolic tangent: `F.tanh` as a link.

    .. math:: y = \tanh x

    Shapes: x any, floating; y that of x.

    >>> import core.links as L, numpy as np
    >>> L.Tanh()(np.array([-100, 0, 100], "f"))
    variable([-1.,  0.,  1.], dtype=float32)
    """

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.tanh(x)


class Softmax(FunctionLink):
    r"""Weights that sum to 1 along an axis: `F.softmax` as a link.

    .. math:: y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}

    `softmax_cross_entropy`, the loss of `Classifier`, takes x itself, without this link.

    Args:
        axis: The axis to sum over.

    Shapes: x any that has the axis, floating; y that of x.

    >>> import core.links as L, numpy as np
    >>> L.Softmax(axis=0)(np.array([0, 0], "f"))
    variable([0.5, 0.5], dtype=float32)
    """

    axis: int = 1

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.softmax(x, self.axis)


class LogSoftmax(FunctionLink):
    r"""Logarithms of weights that sum to 1 along an axis: `F.log_softmax` as a link.

    .. math:: y_i = x_i - \log \sum_j e^{x_j}

    Args:
        axis: The axis to sum over.

    Shapes: x any that has the axis, floating; y that of x.

    >>> import core.links as L, numpy as np
    >>> L.LogSoftmax()(np.array([[0, 1000]], "f"))
    variable([[-1000.,     0.]], dtype=float32)
    """

    axis: int = 1

    def forward(self, x: Array) -> Variable:
        """Apply it to x."""
        return F.log_softmax(x, self.axis)
