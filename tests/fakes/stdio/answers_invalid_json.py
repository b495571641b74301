"""Ends its object too early."""

from speaking import calls

for call in calls():
    print(f'{{"jsonrpc": "2.0", "id": {call["id"]}, "result": }}', flush=True)
