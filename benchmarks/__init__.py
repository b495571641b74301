"""Figures to compare from one change to the next. Nothing here is a test, and nothing fails."""
