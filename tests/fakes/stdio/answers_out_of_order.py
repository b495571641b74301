"""Answers the next call before this one."""

from speaking import calls, say

for call in calls():
    say(id=call["id"] + 1, result={})
