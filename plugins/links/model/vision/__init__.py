"""Networks that won ImageNet's competition: definitions, for weights that one has."""
