"""Where existing scripts look for networks for images: `core.links.model.vision.vgg`."""

from core.links.model import vision as vision
