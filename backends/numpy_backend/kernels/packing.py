"""Arguments of a loop in memory, where another thread finds them; `kernels.calling` puts them."""

STRIDE = 2048
"""Bytes of what is packed, at most."""

THREAD = "thread"
"""A loop's parameter of this name is the number of the thread, 0 for the one that has the parts."""

START, STOP = "start", "stop"
"""Parameters of these names are where the part begins and ends, where one packing has them all."""
