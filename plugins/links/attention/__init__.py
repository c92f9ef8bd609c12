"""Attention, and what is built of it."""

provides = {
    "multi_head_attention": "MultiHeadAttention",
    "transformer_block": "TransformerBlock",
}
