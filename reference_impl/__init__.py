"""The reference engine, all of the record's decisions carried out; `engine` is the way in.

It knows the contract and nothing else of this project.
"""
