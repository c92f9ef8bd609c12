"""Files that are there, or named where they are not."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from core.errors import DatasetMissing, nearest


def there(who: str, open: Callable[..., Any], path: Any, *args: Any, **options: Any) -> Any:
    """What `open(path, ...)` gives; raises DatasetMissing, in the name of `who`, for no file."""
    try:
        return open(path, *args, **options)
    except FileNotFoundError:
        folder, name = os.path.split(os.path.abspath(path))
        known = os.listdir(folder) if os.path.isdir(folder) else []
        raise DatasetMissing(
            f"{who}: there is no file {os.fspath(path)}, looked for in the folder {folder}"
            f"{'' if known else ', which has none'}.{nearest(name, known)}"
        ) from None
