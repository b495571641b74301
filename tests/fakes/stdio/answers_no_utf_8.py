"""Writes Latin-1."""

import sys

from speaking import calls

for call in calls():
    sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "id": %d, "result": "caf\xe9"}\n' % call["id"])
    sys.stdout.buffer.flush()
