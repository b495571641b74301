"""Shakes hands, and reads nothing from then on."""

import time

from speaking import MANIFEST, say

say(id=1, result={"manifest": MANIFEST, "ports": ["open_session"]})
time.sleep(600)
