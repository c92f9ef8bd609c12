"""A plugin that gives objects of other kinds than its hooks say."""

import core


class Lonely:
    """No link, though it is called one."""


@core.hookimpl
def register_functions():
    return {"three": 3}


@core.hookimpl
def register_links():
    return {"Lonely": "plugrad_misfit:Lonely"}
