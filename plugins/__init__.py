"""The bundled plugins: every op, link, optimizer and extension with a name that people type."""
