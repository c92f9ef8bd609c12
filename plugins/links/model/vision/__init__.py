"""Networks that won ImageNet's competition, for weights that the user has."""
