"""Counts by itself."""

from speaking import calls, say

for number, _call in enumerate(calls()):
    say(id=number + 1000, result={})
