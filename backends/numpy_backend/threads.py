"""One thread policy."""


def prepare() -> None:
    """Nothing yet to set."""
