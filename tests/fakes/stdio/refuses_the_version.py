"""Says that it does not know this version of the contract."""

import sys

from speaking import say

sys.stdin.readline()
say(id=1, error={"code": -32000, "message": "I speak contract 2"})
