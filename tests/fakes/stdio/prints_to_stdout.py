"""Logs where the protocol runs."""

from speaking import answer, calls

for call in calls():
    print("opening a session now", flush=True)
    answer(call)
