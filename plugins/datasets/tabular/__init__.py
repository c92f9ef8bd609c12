"""Datasets of named columns, which are read, cut, joined and converted without copying examples."""

from plugins.datasets.tabular.columns import from_data as from_data
from plugins.datasets.tabular.delegate_dataset import DelegateDataset as DelegateDataset
from plugins.datasets.tabular.tabular_dataset import TabularDataset as TabularDataset
