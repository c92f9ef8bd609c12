"""Spectral normalization."""

from __future__ import annotations

from typing import Any

from core import Link, Parameter, Variable, config
from core import functions as F
from core.errors.kinds import checked
from core.initializers import Constant
from core.link.replays import met
from core.typing import AnyArray, NotNegative, Positive
from plugins.link_hooks.weight_hook import SIXTEEN_BIT, WeightHook


class SpectralNormalization(WeightHook):
    r"""Lets a link compute with its weight divided by the largest singular value.

    .. math::
        v \leftarrow \frac{W^T u}{\|W^T u\| + \epsilon}, \qquad
        u \leftarrow \frac{W v}{\|W v\| + \epsilon}, \qquad
        \hat W = \frac{W}{u^T W v}

    The weight counts as a matrix whose rows are the outputs. u is kept as the link's persistent
    value `W_u` (the weight's name, and `_u`), which calls in training mode bring on; gradients go
    through :math:`\hat W` with u and v held constant.

    Args:
        n_power_iteration: How often v and u are brought on in each call.
        eps: Added to the norms.
        use_gamma: Multiply by a parameter `gamma` of the link, which starts as the largest
            singular value.
        factor: Multiply by this number.
        weight_name: The weight.
        name: The hook's name; that of its class by default.

    `load_torch` gives a link with the hook a weight, of PyTorch's `spectral_norm` too, with its
    singular vector as u, and `save_torch` writes the weight that is computed with.

    Source: Miyato et al. 2018 (arXiv:1802.05957), algorithm 1.

    >>> import core, numpy as np
    >>> import core.links as L
    >>> layer = L.Linear(2, 2, initialW=np.diag([3.0, 4.0]).astype("f"))
    >>> _ = layer.add_hook(core.link_hooks.SpectralNormalization(n_power_iteration=30))
    >>> layer(np.eye(2, dtype="f")).array.round(3)
    array([[0.75, 0.  ],
           [0.  , 1.  ]], dtype=float32)
    """

    name = "SpectralNormalization"

    @checked
    def __init__(
        self,
        n_power_iteration: int = 1,
        eps: NotNegative = 1e-6,
        use_gamma: bool = False,
        factor: Positive | None = None,
        weight_name: str = "W",
        name: str | None = None,
    ) -> None:
        if n_power_iteration < 1:
            raise ValueError(
                f"SpectralNormalization: expected n_power_iteration >= 1, got {n_power_iteration}."
            )
        super().__init__(weight_name, name)
        self.n_power_iteration = n_power_iteration
        self.eps = eps
        self.use_gamma = use_gamma
        self.factor = factor
        self.vector_name = weight_name + "_u"

    def added(self, link: Link | None) -> None:
        """Register u, and gamma; both get their values when the weight has its own."""
        super().added(link)
        if link is None:
            return
        for name in self.kept:
            link._refuse_attribute(name)
        link.add_persistent(self.vector_name, None)
        if self.use_gamma:
            link.add_param("gamma")
        weight = getattr(link, self.weight_name)
        if weight.is_initialized:
            self._start(link, weight)

    def deleted(self, link: Link | None) -> None:
        """Remove them."""
        delattr(link, self.vector_name)
        if self.use_gamma:
            del link.gamma  # type: ignore[union-attr]

    def replacement(self, link: Link, weight: Variable) -> Variable:
        """The normalized weight."""
        self._start(link, weight)
        u, v = self._vectors(link, weight)
        sigma = F.sum(F.matmul(self._matrix(link, weight), v) * u)
        if self.factor is not None:
            sigma = sigma / self.factor
        normalized = weight / F.broadcast_to(sigma, weight.shape)
        if self.use_gamma:
            normalized = normalized * F.broadcast_to(_gamma(link), weight.shape)
        return normalized

    @property
    def kept(self) -> tuple[str, ...]:
        """The vector u, and gamma."""
        return (self.vector_name, *["gamma"] * self.use_gamma)

    def begun(self, link: Link, weight: Variable) -> list[AnyArray]:
        """What the iterations lead to: the singular vector, and the largest singular value."""
        matrix, backend = self._array(link, weight), weight.backend
        with backend.beside(matrix):
            u, sigma, _ = weight.xp.linalg.svd(matrix, full_matrices=False)
        found = [u[:, 0], *[sigma[0]] * self.use_gamma]
        return [backend.asarray(x, weight.dtype, weight.device) for x in found]

    def _matrix(self, link: Link, weight: Variable) -> Any:
        """The weight, a Variable, as a matrix with a row for each output."""
        if any(cls.__name__.startswith("Deconvolution") for cls in type(link).__mro__):
            weight = F.swapaxes(weight, 0, 1)
        return F.reshape(weight, (weight.shape[0], -1))

    def _array(self, link: Link, weight: Variable) -> Any:
        """The weight as a matrix, an array; 16-bit floats become float32, and cannot overflow."""
        array = self._matrix(link, Variable(weight.array, requires_grad=False)).array
        backend = weight.backend
        narrow = backend.dtype_name(array.dtype) in SIXTEEN_BIT
        return backend.asarray(array, backend.dtype("float32"), weight.device) if narrow else array

    def _start(self, link: Link, weight: Variable) -> None:
        """Draw u, and let gamma begin as the largest singular value, unless they are there."""
        if getattr(link, self.vector_name) is None:
            matrix = self._array(link, weight)
            with weight.backend.entered(weight.device):
                u = weight.backend.random.normal((matrix.shape[0],), "float32")
                u = weight.backend.asarray(u, matrix.dtype, weight.device)
                u = self._unit(weight.xp, u)
            setattr(link, self.vector_name, weight.backend.asarray(u, weight.dtype, weight.device))
        if self.use_gamma and not _gamma(link).is_initialized:
            _gamma(link).initializer = Constant(self.begun(link, weight)[1], dtype=weight.dtype)
            _gamma(link).to_device(weight.device)
            _gamma(link).initialize(())

    def _vectors(self, link: Link, weight: Variable) -> tuple[Any, Any]:
        """The vectors u and v after the iterations; training keeps u, recomputing needs both."""
        found = met(lambda: self._iterated(link, weight))
        if found is None and config.in_recomputing:
            found = link.__dict__["_spectral_vectors"]
        u, v = self._iterated(link, weight) if found is None else found
        if not config.in_recomputing:
            link.__dict__["_spectral_vectors"] = u, v
            if config.train:
                setattr(link, self.vector_name, u)
        return u, v

    def _iterated(self, link: Link, weight: Variable) -> tuple[Any, Any]:
        backend, xp, matrix = weight.backend, weight.xp, self._array(link, weight)
        u = backend.asarray(getattr(link, self.vector_name), matrix.dtype, weight.device)
        with backend.beside(matrix):
            for _ in range(self.n_power_iteration):
                v = self._unit(xp, xp.matmul(matrix.T, u))
                u = self._unit(xp, xp.matmul(matrix, v))
        u, v = (backend.asarray(x, weight.dtype, weight.device) for x in (u, v))
        return u, v

    def _unit(self, xp: Any, vector: Any) -> Any:
        return vector / (xp.sqrt(xp.sum(vector * vector)) + self.eps)


def _gamma(link: Any) -> Parameter:
    """The parameter that `added` registers."""
    gamma: Parameter = link.gamma
    return gamma
