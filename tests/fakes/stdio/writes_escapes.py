"""Tries to colour the report that quotes it."""

import sys

from speaking import calls

for _call in calls():
    sys.exit("\x1b[31mred\x1b[0m \u202eesrever")
