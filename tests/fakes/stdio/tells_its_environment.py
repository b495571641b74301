"""Tells what it was given of the environment, on standard error, and ends."""

import os
import sys

from speaking import calls

for _call in calls():
    sys.exit(" ".join(sorted(os.environ)))
