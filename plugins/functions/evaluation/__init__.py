"""Measures of how good predictions are, and the best of them."""

provides = {
    "accuracy": "Accuracy accuracy",
    "binary_accuracy": "BinaryAccuracy binary_accuracy",
    "classification_summary": (
        "ClassificationSummary classification_summary f1_score precision recall"
    ),
    "non_maximum_suppression": "non_maximum_suppression",
    "r2_score": "R2Score r2_score",
}
