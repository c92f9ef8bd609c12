"""What is shown of models and computations: summaries, graphs and their pictures, programs."""

__all__ = ["computational_graph", "info", "program", "report", "summary"]
