"""Answers more than anyone asked for."""

from speaking import calls

for _call in calls():
    for _ in range(200):
        print("x" * 2**20, end="", flush=True)
