"""HDF5 files that several threads write at the same moment."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core.serializers import load_hdf5, save_hdf5

pytest.importorskip("h5py")

THREADS = 4


class Bag:
    def __init__(self, value):
        self.values = np.full(1000, value)

    def serialize(self, serializer):
        self.values = serializer("values", self.values)


def test_each_thread_writes_its_own(tmp_path):
    def work(number):
        for i in range(20):
            save_hdf5(tmp_path / str(number), Bag(number + i))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(THREADS)))
    finally:
        sys.setswitchinterval(before)
    for number in range(THREADS):
        found = Bag(0)
        load_hdf5(tmp_path / str(number), found)
        assert (found.values == number + 19).all()
