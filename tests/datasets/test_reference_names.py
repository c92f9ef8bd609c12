"""The names of Chainer's datasets, iterators and converters, with its signatures at 7.8.1."""

import inspect
import pickle

import numpy as np
import pytest

from core import dataset, datasets, iterators
from core.dataset import convert, download, tabular

NONE, REQUIRED = None, inspect.Parameter.empty
IMAGES = {"withlabel": True, "ndim": 1, "scale": 1.0, "dtype": NONE, "label_dtype": np.int32}
CIFAR = {"withlabel": True, "ndim": 3, "scale": 1.0, "dtype": NONE}
LABELED = {"dtype": NONE, "label_dtype": np.int32}
PICKLED = {"protocol": pickle.HIGHEST_PROTOCOL}
SERIAL = {"dataset": REQUIRED, "batch_size": REQUIRED, "repeat": True, "shuffle": NONE}

SIGNATURES = {
    dataset: {
        "cache_or_load_file": {"path": REQUIRED, "creator": REQUIRED, "loader": REQUIRED},
        "cached_download": {"url": REQUIRED},
        "concat_examples": {"batch": REQUIRED, "device": NONE, "padding": NONE},
        "get_dataset_directory": {"dataset_name": REQUIRED, "create_directory": True},
        "get_dataset_root": {},
        "set_dataset_root": {"path": REQUIRED},
        "to_device": {"device": REQUIRED, "x": REQUIRED},
        "converter": {},
        "ConcatWithAsyncTransfer": {"stream": NONE, "compute_stream": NONE},
    },
    convert: {"concat_examples_func": {"batch": REQUIRED, "device": NONE, "padding": NONE}},
    tabular: {
        "from_data": {"data": REQUIRED, "size": NONE},
        "DelegateDataset": {"dataset": REQUIRED},
    },
    datasets: {
        "get_cifar10": CIFAR,
        "get_cifar100": CIFAR,
        "get_mnist": {**IMAGES, "rgb_format": False},
        "get_fashion_mnist": {**IMAGES, "rgb_format": False},
        "get_kuzushiji_mnist": {**IMAGES, "rgb_format": False},
        "get_fashion_mnist_labels": {},
        "get_kuzushiji_mnist_labels": {},
        "get_ptb_words": {},
        "get_ptb_words_vocabulary": {},
        "get_svhn": {"withlabel": True, "scale": 1.0, **LABELED, "add_extra": False},
        "get_cross_validation_datasets": {"dataset": REQUIRED, "n_folds": NONE, "order": NONE},
        "get_cross_validation_datasets_random": {
            "dataset": REQUIRED,
            "n_folds": NONE,
            "seed": NONE,
        },
        "split_dataset": {"dataset": REQUIRED, "split_at": REQUIRED, "order": NONE},
        "split_dataset_n": {"dataset": REQUIRED, "n": REQUIRED, "order": NONE},
        "split_dataset_n_random": {"dataset": REQUIRED, "n": REQUIRED, "seed": NONE},
        "split_dataset_random": {"dataset": REQUIRED, "first_size": REQUIRED, "seed": NONE},
        "ImageDataset": {"paths": REQUIRED, "root": ".", "dtype": NONE},
        "LabeledImageDataset": {"pairs": REQUIRED, "root": ".", **LABELED},
        "ZippedImageDataset": {"zipfilename": REQUIRED, "dtype": NONE},
        "MultiZippedImageDataset": {"zipfilenames": REQUIRED, "dtype": NONE},
        "LabeledZippedImageDataset": {
            "zipfilename": REQUIRED,
            "labelfilename": REQUIRED,
            **LABELED,
        },
        "SubDataset": {"dataset": REQUIRED, "start": REQUIRED, "finish": REQUIRED, "order": NONE},
        "TransformDataset": {"dataset": REQUIRED, "transform": REQUIRED},
        "TextDataset": {
            "paths": REQUIRED,
            "encoding": NONE,
            "errors": NONE,
            "newline": NONE,
            "filter_func": NONE,
        },
        "PickleDataset": {"reader": REQUIRED},
        "PickleDatasetWriter": {"writer": REQUIRED, **PICKLED},
        "open_pickle_dataset": {"path": REQUIRED},
        "open_pickle_dataset_writer": {"path": REQUIRED, **PICKLED},
        "ConcatenatedDataset": {"datasets": REQUIRED},
        "TupleDataset": {"datasets": REQUIRED},
        "DictDataset": {"datasets": REQUIRED},
    },
    iterators: {
        "SerialIterator": {**SERIAL, "order_sampler": NONE},
        "MultithreadIterator": {**SERIAL, "n_threads": 1, "order_sampler": NONE},
        "MultiprocessIterator": {
            **SERIAL,
            "n_processes": NONE,
            "n_prefetch": 1,
            "shared_mem": NONE,
            "order_sampler": NONE,
            "dataset_timeout": 30.0,
            "maxtasksperchild": NONE,
        },
        "ShuffleOrderSampler": {"random_state": NONE},
    },
}
OWN = {"cached_download": {"digest"}, "get_cross_validation_datasets": {"n_fold"}}
OWN["get_cross_validation_datasets_random"] = {"n_fold"}
CASES = [(module, name) for module, names in SIGNATURES.items() for name in names]


@pytest.mark.parametrize(("module", "name"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_signatures(module, name):
    found = inspect.signature(getattr(module, name)).parameters
    assert list(found)[: len(SIGNATURES[module][name])] == list(SIGNATURES[module][name])
    for key, default in SIGNATURES[module][name].items():
        assert found[key].default is default or found[key].default == default, key
    own = {key for key in found if key not in SIGNATURES[module][name]}
    assert own <= OWN.get(name, {"download"})
    assert all(found[key].kind is inspect.Parameter.KEYWORD_ONLY for key in own)


def test_other_names():
    assert inspect.isabstract(dataset.DatasetMixin)
    assert inspect.isabstract(dataset.Converter) and inspect.isabstract(dataset.TabularDataset)
    assert dataset.TabularDataset is tabular.TabularDataset
    assert download.cached_download is dataset.cached_download
    assert iterators.OrderSampler in iterators.ShuffleOrderSampler.__mro__
    methods = "slice fetch convert astuple asdict concat join transform transform_batch"
    assert all(hasattr(dataset.TabularDataset, name) for name in methods.split())
    assert "DaliIterator" not in dir(iterators)  # docs/data.md says why


@pytest.mark.parametrize("name", ["next", "__next__"])
def test_an_iterator_defines_one_of_two_names(name):
    def one(self):
        return [1]

    made = type("Ones", (dataset.Iterator,), {name: one})()
    assert made.next() == next(made) == next(iter(made)) == [1]
    for ask in (next, dataset.Iterator.next):
        with pytest.raises(NotImplementedError, match="Iterator: expected __next__"):
            ask(dataset.Iterator())
