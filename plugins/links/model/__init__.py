"""Links around whole networks."""

provides = {"classifier": "Classifier"}
