"""Recurrent cells, and a long short-term memory over a whole sequence."""
