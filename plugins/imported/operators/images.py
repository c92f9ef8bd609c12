"""Images that come as the bytes of a file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from plugins.extras import need
from plugins.imported.operators.common import Refused, host, like, plain, sized

FORMATS = ("BMP", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")


@plain
def _decode(node: Any, data: Any) -> Any:
    """The elements of an image, uint8 of the shape (height, width, channels)."""
    image = need("PIL.Image", "image", "links.ONNXModel: ImageDecoder")
    how = node.get("pixel_format", "RGB")
    try:
        with image.open(io.BytesIO(host(data).tobytes()), formats=FORMATS) as file:
            sized((*file.size, 3))
            a = np.asarray(file.convert("L" if how == "Grayscale" else "RGB"))
    except Refused:
        raise
    except Exception as error:  # each format has its own kinds
        raise Refused(f"expected an image of {', '.join(FORMATS)}, got {error}") from None
    if how == "Grayscale":
        return like(data, a[..., None])
    return like(data, np.ascontiguousarray(a[..., ::-1]) if how == "BGR" else a)


OPERATORS: dict[str, Any] = {"ImageDecoder": _decode}
