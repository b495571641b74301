"""Leaves out what the contract asks for."""

from speaking import answer, calls

for call in calls():
    answer(call, {"answer": "refused", "measured": 0})
