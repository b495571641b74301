"""Third-party libraries behind the contract."""
