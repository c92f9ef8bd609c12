"""Images, converted to what networks for images expect."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from core import Variable, config
from core.arrays import backend
from core.graph.fitting import is_array
from core.link.initializer import as_dtype

Size = tuple[int, int] | None


def prepared(image: Any, size: Size, mean: tuple[float, float, float]) -> Any:
    """The image as (3, h, w) of `core.config.dtype`: blue, green and red, each minus its mean."""
    pixels = _rgb(image)
    if size is not None and tuple(size) != (pixels.shape[1], pixels.shape[0]):
        pixels = _resized(pixels, size)
    host = backend.get("numpy")
    centered = pixels[:, :, ::-1] - host.xp.asarray(mean)
    channels_first = host.xp.ascontiguousarray(centered.transpose(2, 0, 1))
    return channels_first.astype(as_dtype(host, config.dtype))


def _rgb(image: Any) -> Any:
    """The pixels of an image, (h, w, 3) of uint8 on the host."""
    if hasattr(image, "convert") and hasattr(image, "resize"):  # one of PIL's
        asarray = backend.get("numpy").xp.asarray
        if not image.mode.startswith(("I", "F")):
            return asarray(image.convert("RGB"))
        image = asarray(image)  # of more than bytes, which convert() would cut off
    if not (is_array(image) or isinstance(image, Variable)):
        raise TypeError(
            f"prepare: expected an array or an image of PIL, got {type(image).__name__}. "
            "Open a file with PIL.Image.open(path)."
        )
    array = backend.to_host(image)
    if array.ndim == 3 and array.shape[0] in (1, 3):
        array = array.transpose(1, 2, 0)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or not array.size:
        raise ValueError(
            "prepare: expected an image (h, w), (h, w, channels), (1, h, w) or (3, h, w) with 1 to "
            f"4 channels, got the shape {tuple(image.shape)}."
        )
    gray = array.shape[2] < 3  # the second and the fourth channel are the opacity
    return _bytes(array[:, :, :1].repeat(3, axis=2) if gray else array[:, :, :3])


def _bytes(array: Any) -> Any:
    """Intensities from 0 to 255 as whole numbers."""
    if array.dtype.kind not in "iuf":
        raise TypeError(f"prepare: expected intensities of 0 to 255, got dtype {array.dtype}.")
    if not (array.min() >= 0 and array.max() <= 255):
        raise ValueError(
            "prepare: expected intensities of 0 to 255, got values from "
            f"{array.min():g} to {array.max():g}. Clip or scale the image first."
        )
    whole = array.astype("uint8")
    if array.max() <= 1 and (whole != array).any():
        raise ValueError(
            "prepare: expected intensities of 0 to 255, got fractions between 0 and 1. "
            "Multiply the image by 255."
        )
    return whole


def _resized(pixels: Any, size: tuple[int, int]) -> Any:
    try:
        pil = import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(
            f"prepare: resizing an image of {pixels.shape[1]} by {pixels.shape[0]} pixels to "
            f"{size[0]} by {size[1]} needs Pillow, which cannot be imported ({error}). Install it "
            "with `pip install 'plugrad[image]'`, or give images of the right size."
        ) from error
    image = pil.fromarray(pixels).resize(tuple(size), pil.Resampling.BICUBIC)
    return backend.get("numpy").xp.asarray(image)


def batch(images: Iterable[Any], prepare: Any, size: Size) -> Any:
    """Prepared images as one array (n, 3, h, w)."""
    shape = getattr(images, "shape", None)
    if hasattr(images, "convert") or (shape is not None and len(shape) == 3 and shape[-1] == 3):
        raise TypeError(
            "expected a list of images (or an array of them, images first), got a single image. "
            "Put it into a list."
        )
    arrays = [prepare(image, size=size) for image in images]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) != 1:
        raise ValueError(
            f"expected images of one size, got {', '.join(map(str, shapes)) or 'no image'}. "
            "Give a size to bring them to."
        )
    return backend.get("numpy").xp.stack(arrays)


def center_crop(x: Any, side: int) -> Any:
    """The middle of each image, `side` by `side` pixels."""
    top, left = ((n - side) // 2 for n in x.shape[2:])
    return x[:, :, top : top + side, left : left + side]


def ten_crops(x: Any, side: int) -> Any:
    """Four corners and the middle of each image, and their mirror images: (10 n, 3, side, side)."""
    stack = backend.get("numpy").xp.stack
    last = (x.shape[2] - side, x.shape[3] - side)
    corners = [(top, left) for top in (0, last[0]) for left in (0, last[1])]
    views = [x[:, :, top : top + side, left : left + side] for top, left in corners]
    views.append(center_crop(x, side))
    views += [view[:, :, :, ::-1] for view in views]
    return stack(views, axis=1).reshape(-1, x.shape[1], side, side)
