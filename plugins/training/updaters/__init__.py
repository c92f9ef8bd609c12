"""Updaters: one step of training."""

provides = {"standard_updater": "StandardUpdater"}
