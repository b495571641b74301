"""Writes megabytes to standard error before it answers."""

import sys

from speaking import answer, calls

for call in calls():
    sys.stderr.write("all is well, thank you\n" * 500_000)
    answer(call)
