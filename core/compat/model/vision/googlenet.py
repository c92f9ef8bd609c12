"""GoogLeNet: names of `core.links`."""

from core.compat.model.vision.family import family

__getattr__, __dir__ = family(__name__, "GoogLeNet")
