"""What is shown of a model and of a computation: summaries, graphs, and their pictures."""

__all__ = ["computational_graph", "info", "report", "summary"]
