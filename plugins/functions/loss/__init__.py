"""Losses, which training minimizes."""

provides = {
    "absolute_error": "AbsoluteError absolute_error",
    "black_out": "black_out",
    "connectionist_temporal_classification": (
        "ConnectionistTemporalClassification connectionist_temporal_classification"
    ),
    "contrastive": "Contrastive contrastive",
    "covariance": "CrossCovariance DeCov cross_covariance decov",
    "crf1d": "argmax_crf1d crf1d",
    "discriminative": "discriminative_margin_based_clustering_loss",
    "hinge": "Hinge hinge",
    "huber_loss": "HuberLoss huber_loss",
    "mean_absolute_error": "MeanAbsoluteError mean_absolute_error",
    "mean_squared_error": "MeanSquaredError mean_squared_error",
    "negative_sampling": "negative_sampling",
    "sigmoid_cross_entropy": "SigmoidCrossEntropy sigmoid_cross_entropy",
    "softmax_cross_entropy": "SoftmaxCrossEntropy softmax_cross_entropy",
    "squared_error": "SquaredError squared_error",
    "triplet": "Triplet triplet",
    "vae": "bernoulli_nll gaussian_kl_divergence gaussian_nll",
}
