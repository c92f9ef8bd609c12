"""Kernels of the CUDA backend: their text in CUDA C, and what stands in for operations and rules.

`words` has what numbers are in CUDA C, `loop` writes loops of programs, `philox` random numbers and
`update` the steps of all parameters. Nothing here imports CuPy.
"""
