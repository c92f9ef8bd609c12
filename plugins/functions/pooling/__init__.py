"""Summaries of windows."""

provides = {
    "max_pooling": (
        "MaxPooling2D MaxPoolingND max_pooling_1d max_pooling_2d max_pooling_3d max_pooling_nd"
    ),
    "average_pooling": (
        "AveragePooling2D AveragePoolingND "
        "average_pooling_1d average_pooling_2d average_pooling_3d average_pooling_nd"
    ),
}
