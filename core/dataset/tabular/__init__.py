"""Datasets of named columns, which are read, cut, joined and converted without copying examples."""

from core.dataset.tabular.columns import from_data as from_data
from core.dataset.tabular.delegate_dataset import DelegateDataset as DelegateDataset
from core.dataset.tabular.tabular_dataset import TabularDataset as TabularDataset
