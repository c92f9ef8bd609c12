"""The commands of `plugrad`, each a function from options to a report that is printed or dumped."""
