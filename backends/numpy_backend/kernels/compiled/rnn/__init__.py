"""Recurrent cells, by themselves and over a whole sequence."""
