"""Property-based conformance suite for LLM context engines."""

__version__ = "0.1.0"
