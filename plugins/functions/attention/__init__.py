"""Attention."""

provides = {
    "scaled_dot_product_attention": "scaled_dot_product_attention",
}
