"""What is looked at in errors."""

import pytest

from core.errors import InvalidType


def refused_in_three_parts(call, message=None):
    """Hold that a call is refused by operation, expectation and what came, with the message."""
    with pytest.raises(InvalidType, match=message) as caught:
        call()
    text = str(caught.value)
    parts = ("Invalid operation is performed in: ", "Expect: ", "Actual: ")
    at = [text.find(part) for part in parts]
    assert -1 < at[0] < at[1] < at[2], text
