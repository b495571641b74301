"""Answers, as it should."""

from speaking import answer, calls

for call in calls():
    answer(call)
