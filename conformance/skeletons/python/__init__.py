"""The Python skeleton. It is written out as it stands, so it imports the contract and nothing else."""
