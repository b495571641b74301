"""What travels, for whoever writes a builder without our Python: schemas, examples and test vectors."""
