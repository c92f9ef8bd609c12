"""Cells of recurrent networks, with their parameters and some with their state."""

provides = {"lstm": "LSTM StatelessLSTM"}
