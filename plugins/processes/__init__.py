"""Worker processes, how they hand each other objects, and how signals are left to the main one."""
