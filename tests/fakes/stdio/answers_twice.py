"""Answers each call two times."""

from speaking import answer, calls

for call in calls():
    answer(call)
    answer(call)
