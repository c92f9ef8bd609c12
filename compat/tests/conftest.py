"""What the tests of the import name share: what a test leaves behind fails it."""

import chainer
import pytest


@pytest.fixture(autouse=True)
def nothing_leaks():
    """Leave neither configuration nor hooks behind."""
    yield
    for name in ("volatile",):
        if name in chainer.get_function_hooks():
            hook = chainer.get_function_hooks()[name]
            hook.__exit__(None, None, None)
    assert not chainer.get_function_hooks()
    assert chainer.config.train is True and chainer.config.enable_backprop is True
