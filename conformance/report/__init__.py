"""What a run leaves behind, laid out for people and machines."""
