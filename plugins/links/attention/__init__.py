"""Attention, and layers built from it."""

provides = {
    "multi_head_attention": "MultiHeadAttention",
    "transformer_block": "TransformerBlock",
}
