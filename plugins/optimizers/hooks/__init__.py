"""Hooks that change gradients before the update, or follow its results."""

provides = {
    "exponential_moving_average": "ExponentialMovingAverage",
    "weight_decay": "WeightDecay",
    "lasso": "Lasso",
    "gradient_clipping": "GradientClipping",
    "gradient_hard_clipping": "GradientHardClipping",
    "gradient_value_clipping": "GradientValueClipping",
    "gradient_noise": "GradientNoise exponential_decay_noise",
    "gradient_lars": "GradientLARS",
}
