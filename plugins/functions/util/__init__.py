"""Functions that change how a graph is kept, not what it computes."""

provides = {
    "forget": "Forget forget",
    "from_torch": "from_torch",
}
