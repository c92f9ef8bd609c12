"""Convolution, batch normalization and attention by cuDNN, through its frontend for Python.

`presence` says whether it is there, `plans` what is planned and launched; the others say how an
operation is written as a graph, and what of it cuDNN is asked for. What cuDNN has no plan for is
computed as it is without it.
"""
