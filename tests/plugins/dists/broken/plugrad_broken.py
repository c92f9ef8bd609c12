"""Needs a library that is not there."""

import a_library_that_is_not_installed  # noqa: F401

from core import hookimpl


@hookimpl
def register_functions():
    return {"shattered": "plugrad_broken:shattered"}
