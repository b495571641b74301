"""Reaching a builder: in process, or as a subprocess over stdio. Both give the same ports."""
