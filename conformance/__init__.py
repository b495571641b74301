"""The instrument: it plays scenarios against a builder and judges the traces."""
