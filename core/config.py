"""Moved: see core.configuration."""

from core.configuration import *  # noqa
from core.configuration import current, install_hooks  # noqa
