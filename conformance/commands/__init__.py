"""The commands, a module each or for a few that are alike; `conformance.cli` puts them together."""
