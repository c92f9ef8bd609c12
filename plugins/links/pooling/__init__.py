"""Pooling over images, as links."""

provides = {"pooling_2d": "AveragePooling2D MaxPooling2D"}
