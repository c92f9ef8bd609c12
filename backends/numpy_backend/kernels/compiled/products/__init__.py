"""Products of matrices, and the panels that they and others are made of."""
