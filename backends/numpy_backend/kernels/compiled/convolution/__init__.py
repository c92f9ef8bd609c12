"""Convolution and its adjoints. Begin with `convolution`, which says which loops compute them."""
