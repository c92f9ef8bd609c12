"""Summaries of windows, and windows from summaries."""

provides = {
    "adaptive_pooling": "adaptive_average_pooling_nd adaptive_max_pooling_nd",
    "average_pooling": (
        "AveragePooling2D AveragePoolingND "
        "average_pooling_1d average_pooling_2d average_pooling_3d average_pooling_nd"
    ),
    "max_pooling": (
        "MaxPooling2D MaxPoolingND max_pooling_1d max_pooling_2d max_pooling_3d max_pooling_nd"
    ),
    "roi_align": "roi_average_align_2d roi_max_align_2d",
    "roi_average_pooling": "roi_average_pooling_2d",
    "roi_max_pooling": "ROIMaxPooling2D ROIPooling2D roi_max_pooling_2d roi_pooling_2d",
    "spatial_pyramid_pooling": "spatial_pyramid_pooling_2d",
    "unpooling": "Unpooling2D UnpoolingND unpooling_1d unpooling_2d unpooling_3d unpooling_nd",
    "upsampling": "Upsampling2D upsampling_2d",
}
