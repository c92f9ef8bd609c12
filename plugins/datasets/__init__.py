"""Datasets, and ways to make one out of others."""

from __future__ import annotations

from core import hookimpl

provides = {
    "concatenated_dataset": "ConcatenatedDataset",
    "cross_validation": "get_cross_validation_datasets get_cross_validation_datasets_random",
    "dict_dataset": "DictDataset",
    "digits": "get_digits",
    "image_dataset": "ImageDataset LabeledImageDataset",
    "pickle_dataset": "PickleDataset PickleDatasetWriter open_pickle_dataset "
    "open_pickle_dataset_writer",
    "split": "split_dataset split_dataset_n split_dataset_n_random split_dataset_random",
    "sub_dataset": "SubDataset",
    "text_dataset": "TextDataset",
    "transform_dataset": "TransformDataset",
    "tuple_dataset": "TupleDataset",
    "zipped_image_dataset": "LabeledZippedImageDataset MultiZippedImageDataset ZippedImageDataset",
}


@hookimpl
def register_datasets() -> dict[str, str]:
    """The datasets, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
