"""Snapshots: what a builder renders and answers as plain text, kept, compared, and read as a diff."""
