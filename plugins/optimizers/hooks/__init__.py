"""Hooks that change gradients on their way to the update, or watch what comes of it."""

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
