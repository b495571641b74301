"""Claims a call and does not know it."""

from speaking import calls, say

for call in calls():
    say(id=call["id"], error={"code": -32601, "message": f"unknown method {call['method']}"})
