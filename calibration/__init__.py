"""Builders of known verdict, by which the instrument itself is calibrated."""
