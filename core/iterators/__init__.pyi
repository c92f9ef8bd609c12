"""What `core.iterators` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.iterators.multiprocess_iterator import MultiprocessIterator as MultiprocessIterator
from plugins.iterators.multithread_iterator import MultithreadIterator as MultithreadIterator
from plugins.iterators.order_samplers import OrderSampler as OrderSampler
from plugins.iterators.order_samplers import ShuffleOrderSampler as ShuffleOrderSampler
from plugins.iterators.serial_iterator import SerialIterator as SerialIterator
from plugins.iterators.stratified_order_sampler import (
    StratifiedOrderSampler as StratifiedOrderSampler,
)
from plugins.iterators.weighted_order_sampler import WeightedOrderSampler as WeightedOrderSampler

def of(distribution: str) -> Offer: ...
