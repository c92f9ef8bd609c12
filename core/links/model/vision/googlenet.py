"""GoogLeNet: names of `core.links`."""

from core.links.model.vision.family import family

__getattr__, __dir__ = family(__name__, "GoogLeNet")
