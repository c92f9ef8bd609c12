"""Datasets, and ways to make one out of others."""

from __future__ import annotations

from core import hookimpl

provides = {
    "cifar": "get_cifar10 get_cifar100",
    "concatenated_dataset": "ConcatenatedDataset",
    "cross_validation": "get_cross_validation_datasets get_cross_validation_datasets_random",
    "dict_dataset": "DictDataset",
    "digits": "get_digits",
    "image_dataset": "ImageDataset LabeledImageDataset",
    "mnist": "get_fashion_mnist get_fashion_mnist_labels get_kuzushiji_mnist "
    "get_kuzushiji_mnist_labels get_mnist",
    "pickle_dataset": "PickleDataset PickleDatasetWriter open_pickle_dataset "
    "open_pickle_dataset_writer",
    "ptb": "get_ptb_words get_ptb_words_vocabulary",
    "split": "split_dataset split_dataset_n split_dataset_n_random split_dataset_random",
    "sub_dataset": "SubDataset",
    "svhn": "get_svhn",
    "tabular": "DelegateDataset TabularDataset from_data",
    "text_dataset": "TextDataset",
    "topics": "get_topics_characters get_topics_characters_vocabulary get_topics_words "
    "get_topics_words_vocabulary",
    "transform_dataset": "TransformDataset",
    "tuple_dataset": "TupleDataset",
    "zipped_image_dataset": "LabeledZippedImageDataset MultiZippedImageDataset ZippedImageDataset",
}


@hookimpl
def register_datasets() -> dict[str, str]:
    """The datasets, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
