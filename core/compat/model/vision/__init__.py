"""Networks for images by family, each with the `prepare` that brings images into its form.

>>> from core.links.model.vision import resnet
>>> import numpy as np
>>> resnet.prepare(np.zeros((2, 2), "uint8"), size=None).shape
(3, 2, 2)
"""

from core.compat.model.vision import googlenet as googlenet
from core.compat.model.vision import resnet as resnet
from core.compat.model.vision import vgg as vgg
