"""Images of 224x224 in memory, mirrored at times, scaled, and put in the order of networks."""

import numpy as np

from benchmarks import models

SIDE = 224
KEPT = 64
"""Images in memory: a data set repeats them."""

MEAN, DEVIATION = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], "f")


class Pictures:
    """What any loader takes: a length, and the example at each place."""

    def __init__(self):
        self.images = models.random().randint(0, 256, (KEPT, SIDE, SIDE, 3)).astype("u1")

    def __len__(self):
        return 1_000_000

    def __getitem__(self, i):
        x = self.images[i % KEPT]
        x = x[:, ::-1] if i % 2 else x
        x = (x.astype("f") / 255 - MEAN) / DEVIATION
        return np.ascontiguousarray(x.transpose(2, 0, 1)), np.int64(i % 10)


def work(w):
    return {"images": w.batch}
