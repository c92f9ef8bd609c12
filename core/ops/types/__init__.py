"""What an operation takes, and how it refuses the rest: domains and shapes."""

__all__ = ["domain", "rules", "shapes", "type_check"]
