"""Speaks a version of the contract that is yet to come."""

from speaking import MANIFEST, answer, calls

for call in calls({**MANIFEST, "contract": 2}):
    answer(call)
