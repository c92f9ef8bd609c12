"""What is shown of models and computations: summaries, graphs and their pictures."""

__all__ = ["computational_graph", "info", "report", "summary", "variable"]
