"""Elements chosen, moved, interpolated, and summed into tables."""
