"""What programs for Chainer 1 write: understood where it contradicts no later version.

Where it does, `CHAINER_COMPAT=1` decides. See "Programs for Chainer" in plugrad's documentation.
"""
