"""Iterators, which hand out a dataset batch by batch."""

from __future__ import annotations

from core import hookimpl

provides = {
    "multiprocess_iterator": "MultiprocessIterator",
    "multithread_iterator": "MultithreadIterator",
    "order_samplers": "OrderSampler ShuffleOrderSampler",
    "serial_iterator": "SerialIterator",
    "stratified_order_sampler": "StratifiedOrderSampler",
    "weighted_order_sampler": "WeightedOrderSampler",
}


@hookimpl
def register_iterators() -> dict[str, str]:
    """The iterators, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
