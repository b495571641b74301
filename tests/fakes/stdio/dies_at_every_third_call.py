"""Ends at every third call."""

import sys

from speaking import answer, calls

for number, call in enumerate(calls()):
    answer(call) if number < 2 else sys.exit(1)
