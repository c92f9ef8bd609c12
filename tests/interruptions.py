"""Interruptions at a place of one's choice, as by Ctrl-C."""

import sys


def is_interrupted(function, interrupting):
    """Whether a KeyboardInterrupt that `interrupting`, a function for `sys.settrace`, raises comes.

    It is called with each frame, event and argument while `function` runs.
    """
    before = sys.gettrace()
    sys.settrace(interrupting)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
