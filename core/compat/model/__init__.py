"""Where existing scripts look for networks for images: `core.links.model.vision.vgg`."""

from core.compat.model import vision as vision
