"""Sums, products, maxima and running sums, along rows and over channels."""
