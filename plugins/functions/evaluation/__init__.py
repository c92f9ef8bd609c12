"""How good predictions are; nothing here has a gradient."""

provides = {
    "accuracy": "Accuracy accuracy",
    "binary_accuracy": "BinaryAccuracy binary_accuracy",
}
