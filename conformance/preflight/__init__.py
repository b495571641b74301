"""Preflight: whether a configuration would open, measured before it is deployed (decisions 6 and 7)."""
