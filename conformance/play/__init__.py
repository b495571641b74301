"""Playing: a scenario against a builder, written down as a trace. Nothing here judges."""
