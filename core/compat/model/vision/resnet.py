"""Residual networks, and what they consist of: names of `core.links`."""

from core.compat.model.vision.family import family

__getattr__, __dir__ = family(
    __name__,
    "ResNetLayers",
    "ResNet50Layers",
    "ResNet101Layers",
    "ResNet152Layers",
    "BottleneckA",
    "BottleneckB",
    "BuildingBlock",
)
