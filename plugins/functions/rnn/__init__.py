"""Cells of recurrent networks."""

provides = {"lstm": "LSTM lstm"}
