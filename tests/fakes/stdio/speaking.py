"""The protocol as far as these fakes speak it: the handshake, `open_session` refused, the end."""

import json
import sys

MANIFEST = {
    "contract": 1,
    "name": "a fake",
    "version": "0",
    "claims": [],
    "delimiters": [],
    "codecs": [],
    "summary_bound": 0,
}
REFUSED = {"answer": "refused", "token_class": "output_reserve", "measured": 0, "cap": 1000}


def say(**members):
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)


def answer(call, result=REFUSED):
    say(id=call["id"], result=result)


def calls(manifest=MANIFEST):
    """Every call but the first and the last, which are answered as they should be."""
    for line in sys.stdin:
        call = json.loads(line)
        if call["method"] == "initialize":
            answer(call, {"manifest": manifest, "ports": ["open_session"]})
        elif call["method"] == "shutdown":
            answer(call, {})
            return
        else:
            yield call
