"""Rendered envelopes and requests as plain text, one a file."""
