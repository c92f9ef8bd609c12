"""Shifting and scaling to a standard distribution."""

provides = {
    "batch_normalization": "BatchNormalization batch_normalization",
    "fixed_batch_normalization": "FixedBatchNormalization fixed_batch_normalization",
}
