"""The base of communicators, by which the processes of a job train together."""

from __future__ import annotations

from typing import Any

from core.arrays import backend
from core.errors import CommunicatorError
from core.graph.fitting import is_array
from core.link import Link
from core.training.buckets import Buckets
from core.training.collectives import Collectives, on_host, shown


class Communicator(Collectives):
    """Base of communicators: the processes of a job, each a *rank* from 0 to `size` - 1.

    A subclass sets `rank` and `size` by `super().__init__(rank, size)` and defines `send_obj`,
    `recv_obj` and `split`. All else is made of these here; where its library has something better,
    as MPI has for a broadcast, it overrides that.

    Every method but `send`, `recv`, `send_obj` and `recv_obj` is *collective*: all ranks call it,
    in the same order. Arrays of any backend, shape and dtype travel through the memory of the host,
    and arrive on the device of the receiver's own argument, else on the current one. A tuple or
    list of arrays arrives as a tuple. Objects travel pickled: exchange them only within a job.

    Settings, which `set_config` changes:

    - `allreduce_grad_dtype`: the dtype in which gradients travel, such as 'float16' or 'bfloat16',
      which are added in float32 and rounded once; None is their own.
    - `bucket_bytes`: gradients are packed into buffers of about this size, 4 MiB by default.
    - `fixed_order`: gradients are added in the order of the ranks, so that their bits do not depend
      on the library; False leaves the order to it, which may know a faster one for many ranks.
    - `batched_copy`: taken for ChainerMN's sake; gradients are always packed.
    """

    def compare_models(self, what: str, model: Link, *settings: Any) -> None:
        """Raise on every rank where parameters, shapes, dtypes or `settings` are not alike."""
        if not isinstance(model, Link):
            raise CommunicatorError(
                f"{what}: expected a model, which is a link, got {type(model).__name__}."
            )
        named = sorted(model.namedparams())
        known = [(path, p.array is not None and shown(p.array)) for path, p in named]
        self.compare(what, [*settings, *known])

    def bcast_data(self, model: Link) -> None:
        """Give the model of every rank the parameters and persistent values of rank 0.

        Raises CommunicatorError, on every rank, where the models differ in more than values.
        """
        self.compare_models("bcast_data", model)
        values = [(p, p.array) for _, p in sorted(model.namedparams()) if p.array is not None]
        for parameter, array in values:
            found = self.bcast(array)
            if self.rank != 0:
                backend.copyto(parameter, found)
                parameter.version += 1
        persistent = [(link, name) for _, link in sorted(model.namedlinks(), key=_path)
                      for name in sorted(link._persistent)]  # fmt: skip
        for link, name in persistent:
            own = getattr(link, name)
            found = self.bcast_obj(on_host(own))
            if self.rank != 0:
                at_home = is_array(found) and hasattr(own, "dtype")
                setattr(link, name, link.device.send(found) if at_home else found)

    def multi_node_mean_grad(self, model: Link, zero_fill: bool = False) -> None:
        """Replace the gradients of the model by their means over all ranks.

        A parameter without a gradient on some ranks is an error on all of them; with `zero_fill`
        these count as zeros. One without a gradient on any rank stays without.
        """
        # Buffers of other sizes or dtypes would be added as if they were alike.
        self.compare_models("mean of gradients", model, *self.get_config().items())
        named = sorted(model.namedparams(include_uninit=False))
        gradients = Buckets(self, [parameter for _, parameter in named])
        gradients.allreduce(1 / self.size, None if zero_fill else self.size)

    broadcast_data = bcast_data
    allreduce_grad = multi_node_mean_grad


def _path(entry: tuple[str, Any]) -> str:
    return entry[0]
