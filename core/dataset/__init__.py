"""Datasets, iterators over them, and the converters that make batches of examples into arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.dataset.async_transfer import ConcatWithAsyncTransfer as ConcatWithAsyncTransfer
from core.dataset.convert import Converter as Converter
from core.dataset.convert import concat_examples as concat_examples
from core.dataset.convert import concat_examples_func as concat_examples_func
from core.dataset.convert import converter as converter
from core.dataset.convert import to_device as to_device
from core.dataset.dataset_mixin import DatasetMixin as DatasetMixin
from core.dataset.download import cache_or_load_file as cache_or_load_file
from core.dataset.download import cached_download as cached_download
from core.dataset.download import get_dataset_directory as get_dataset_directory
from core.dataset.download import get_dataset_root as get_dataset_root
from core.dataset.download import set_dataset_root as set_dataset_root
from core.dataset.iterator import Iterator as Iterator
from core.registry.public import exporting

if TYPE_CHECKING:
    from core import datasets as tabular  # noqa: F401 - under the name that scripts know
    from core.datasets import TabularDataset as TabularDataset
else:  # tables are datasets as any other; scripts look for them here too
    __getattr__, __dir__ = exporting(
        __name__, {"core.datasets": "TabularDataset"}, "download indexing"
    )
