"""Builders that are no engines: each has one defect of the kind its name tells."""
