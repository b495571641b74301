"""Calibrating the instrument: engines of known verdict are measured, and what is said of each compared."""
