"""Ends, and a process of its own runs on, with the pipes open."""

import subprocess
import sys

from speaking import answer, calls

for call in calls():
    child = subprocess.Popen(["sleep", "600"])
    answer(call, {"answer": "refused", "token_class": "output_reserve", "measured": child.pid, "cap": 0})
sys.exit()
