"""Array backends, each a plugin of its own."""
