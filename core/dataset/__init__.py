"""Datasets, iterators over them, and the converters that make batches of examples into arrays."""

from core.dataset.convert import Converter as Converter
from core.dataset.convert import concat_examples as concat_examples
from core.dataset.convert import converter as converter
from core.dataset.convert import to_device as to_device
from core.dataset.dataset_mixin import DatasetMixin as DatasetMixin
from core.dataset.iterator import Iterator as Iterator
