"""Measures of how good predictions are."""

provides = {
    "accuracy": "Accuracy accuracy",
    "binary_accuracy": "BinaryAccuracy binary_accuracy",
    "classification_summary": (
        "ClassificationSummary classification_summary f1_score precision recall"
    ),
    "r2_score": "R2Score r2_score",
}
