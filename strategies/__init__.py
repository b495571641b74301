"""Hypothesis strategies: the vocabulary that scenarios are generated from."""
