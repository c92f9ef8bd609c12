"""What `core.datasets` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.datasets.concatenated_dataset import ConcatenatedDataset as ConcatenatedDataset
from plugins.datasets.cross_validation import (
    get_cross_validation_datasets as get_cross_validation_datasets,
)
from plugins.datasets.cross_validation import (
    get_cross_validation_datasets_random as get_cross_validation_datasets_random,
)
from plugins.datasets.dict_dataset import DictDataset as DictDataset
from plugins.datasets.digits import get_digits as get_digits
from plugins.datasets.split import split_dataset as split_dataset
from plugins.datasets.split import split_dataset_n as split_dataset_n
from plugins.datasets.split import split_dataset_n_random as split_dataset_n_random
from plugins.datasets.split import split_dataset_random as split_dataset_random
from plugins.datasets.sub_dataset import SubDataset as SubDataset
from plugins.datasets.transform_dataset import TransformDataset as TransformDataset
from plugins.datasets.tuple_dataset import TupleDataset as TupleDataset

def of(distribution: str) -> Offer: ...
