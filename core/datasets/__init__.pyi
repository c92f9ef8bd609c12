"""What `core.datasets` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.datasets.cifar import get_cifar10 as get_cifar10
from plugins.datasets.cifar import get_cifar100 as get_cifar100
from plugins.datasets.concatenated_dataset import ConcatenatedDataset as ConcatenatedDataset
from plugins.datasets.cross_validation import (
    get_cross_validation_datasets as get_cross_validation_datasets,
)
from plugins.datasets.cross_validation import (
    get_cross_validation_datasets_random as get_cross_validation_datasets_random,
)
from plugins.datasets.dict_dataset import DictDataset as DictDataset
from plugins.datasets.digits import get_digits as get_digits
from plugins.datasets.image_dataset import ImageDataset as ImageDataset
from plugins.datasets.image_dataset import LabeledImageDataset as LabeledImageDataset
from plugins.datasets.mnist import get_fashion_mnist as get_fashion_mnist
from plugins.datasets.mnist import get_fashion_mnist_labels as get_fashion_mnist_labels
from plugins.datasets.mnist import get_kuzushiji_mnist as get_kuzushiji_mnist
from plugins.datasets.mnist import get_kuzushiji_mnist_labels as get_kuzushiji_mnist_labels
from plugins.datasets.mnist import get_mnist as get_mnist
from plugins.datasets.pickle_dataset import PickleDataset as PickleDataset
from plugins.datasets.pickle_dataset import PickleDatasetWriter as PickleDatasetWriter
from plugins.datasets.pickle_dataset import open_pickle_dataset as open_pickle_dataset
from plugins.datasets.pickle_dataset import open_pickle_dataset_writer as open_pickle_dataset_writer
from plugins.datasets.ptb import get_ptb_words as get_ptb_words
from plugins.datasets.ptb import get_ptb_words_vocabulary as get_ptb_words_vocabulary
from plugins.datasets.split import split_dataset as split_dataset
from plugins.datasets.split import split_dataset_n as split_dataset_n
from plugins.datasets.split import split_dataset_n_random as split_dataset_n_random
from plugins.datasets.split import split_dataset_random as split_dataset_random
from plugins.datasets.sub_dataset import SubDataset as SubDataset
from plugins.datasets.svhn import get_svhn as get_svhn
from plugins.datasets.tabular import DelegateDataset as DelegateDataset
from plugins.datasets.tabular import TabularDataset as TabularDataset
from plugins.datasets.tabular import from_data as from_data
from plugins.datasets.text_dataset import TextDataset as TextDataset
from plugins.datasets.topics import get_topics_characters as get_topics_characters
from plugins.datasets.topics import (
    get_topics_characters_vocabulary as get_topics_characters_vocabulary,
)
from plugins.datasets.topics import get_topics_words as get_topics_words
from plugins.datasets.topics import get_topics_words_vocabulary as get_topics_words_vocabulary
from plugins.datasets.transform_dataset import TransformDataset as TransformDataset
from plugins.datasets.tuple_dataset import TupleDataset as TupleDataset
from plugins.datasets.zipped_image_dataset import (
    LabeledZippedImageDataset as LabeledZippedImageDataset,
)
from plugins.datasets.zipped_image_dataset import MultiZippedImageDataset as MultiZippedImageDataset
from plugins.datasets.zipped_image_dataset import ZippedImageDataset as ZippedImageDataset

def of(distribution: str) -> Offer: ...
