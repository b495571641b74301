"""Asks the suite for what it does not have."""

from speaking import calls, say

for _call in calls():
    say(id="mine", method="complete", params={})
