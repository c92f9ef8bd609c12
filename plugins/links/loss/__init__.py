"""Losses that have parameters."""

provides = {
    "black_out": "BlackOut",
    "crf1d": "CRF1d",
    "hierarchical_softmax": "BinaryHierarchicalSoftmax",
    "negative_sampling": "NegativeSampling",
}
