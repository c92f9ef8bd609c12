"""Shifting and scaling to a standard distribution, with parameters."""

provides = {
    "batch_normalization": "BatchNormalization",
    "batch_renormalization": "BatchRenormalization",
    "decorrelated_batch_normalization": "DecorrelatedBatchNormalization",
    "group_normalization": "GroupNormalization",
    "layer_normalization": "LayerNormalization",
    "rms_normalization": "RMSNormalization",
}
