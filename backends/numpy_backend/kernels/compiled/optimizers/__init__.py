"""Steps of update rules, of all parameters at once, and norms of gradients."""
