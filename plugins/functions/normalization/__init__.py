"""Shifting and scaling to a standard distribution."""

provides = {
    "batch_normalization": "BatchNormalization batch_normalization",
    "batch_renormalization": "batch_renormalization fixed_batch_renormalization",
    "decorrelated_batch_normalization": (
        "decorrelated_batch_normalization fixed_decorrelated_batch_normalization"
    ),
    "fixed_batch_normalization": "FixedBatchNormalization fixed_batch_normalization",
    "group_normalization": "GroupNormalization group_normalization",
    "l2_normalization": "NormalizeL2 normalize",
    "layer_normalization": "LayerNormalization layer_normalization",
    "local_response_normalization": "LocalResponseNormalization local_response_normalization",
    "rms_normalization": "RMSNormalization rms_normalization",
}
