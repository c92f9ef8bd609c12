"""Attention, some queries at a time, and its weights."""
