"""The language every builder speaks: all that a builder's author needs, and nothing else of ours."""
