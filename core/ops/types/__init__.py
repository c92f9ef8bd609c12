"""What an operation takes, and how it refuses the rest: domains, shapes, kinds of settings."""

__all__ = ["domain", "kinds", "shapes", "type_check"]
