"""What a script that reproduces a violation checks: a few lines a rule, in plain Python.

``CALL`` stands for the call, ``PLACES`` for places among the parts handed over, ``TOKENIZER`` for the
tokenizer's name, ``EXTRA`` for texts that count besides the messages.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Rules whose check looks at what came back from one call.
CONTENTS = frozenset(
    {"CTX-02.4", "CTX-06.2", "CTX-08.1", "CTX-08.3", "CTX-08.8", "CTX-09.1", "CTX-08.9", "CTX-11.6", "TRIM-1"}
)

#: The parts that stay or go: messages in one format, blocks with their role in the other.
PARTS: Mapping[str, tuple[str, ...]] = {
    "openai": ("parts = list",),
    "anthropic": (
        "",
        "",
        "def parts(messages):",
        "    contents = [(m['role'], m['content']) for m in messages]",
        "    texts = {n: [{'type': 'text', 'text': c}] for n, (_, c) in enumerate(contents) if c == str(c)}",
        "    return [(r, b) for n, (r, c) in enumerate(contents) for b in texts.get(n, c)]",
        "",
        "",
    ),
}

#: Where what must be sent may not fit by the trimmer's own count, refusing it is a good answer too.
MAY_REFUSE = """
try:
    kept = CALL
except Exception as refusal:
    sys.exit(0 if str(refusal) else "it refused and did not say why")
print(kept)
"""

_PAIRS_OPENAI = """
open_calls = []
for message in kept:
    if message["role"] == "tool":
        assert message["tool_call_id"] in open_calls, f"no call before {message}"
        open_calls.remove(message["tool_call_id"])
    else:
        assert not open_calls, f"no result for {open_calls} before {message}"
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
assert not open_calls, f"no result for {open_calls}"
"""
_PAIRS_ANTHROPIC = """
open_calls = []
for message in kept:
    for _, block in parts([message]):
        if block["type"] == "tool_result":
            assert block["tool_use_id"] in open_calls, f"no call before {block}"
            open_calls.remove(block["tool_use_id"])
    assert not open_calls, f"no result for {open_calls} before {message}"
    open_calls = [block["id"] for _, block in parts([message]) if block["type"] == "tool_use"]
assert not open_calls, f"no result for {open_calls}"
"""
_TOKENS = """
tokens = sum(len(tiktoken.get_encoding(TOKENIZER).encode_ordinary(text)) for text in texts)
assert tokens <= limit, f"{tokens} tokens under a limit of {limit}"
"""
_BUDGET_OPENAI = f"""
import tiktoken  # noqa: E402

texts = []
for message in kept:
    content = message["content"] or ""
    texts += [content] if isinstance(content, str) else [part["text"] for part in content]
    for call in message.get("tool_calls") or ():
        texts += [call["function"]["name"], call["function"]["arguments"]]
{_TOKENS.strip()}
"""
_BUDGET_ANTHROPIC = f"""
import tiktoken  # noqa: E402

texts = EXTRA
for _, block in parts(kept):
    if block["type"] == "tool_use":
        texts += [block["name"], json.dumps(block["input"], ensure_ascii=False)]
    else:
        texts.append(block["text"] if block["type"] == "text" else block["content"])
{_TOKENS.strip()}
"""
_USERS = "part[0] == 'user' and part[1]['type'] == 'text'"
_AMORTIZED = """
times = 0
for before, after in itertools.pairwise(map(parts, answers)):
    users = [n for n, part in enumerate(before) if {}]
    older = [part for n, part in enumerate(before) if n not in users[-1:]]
    times += any(part not in after for part in older)
assert times < 2, f"left out more {{times}} times, with less than a tenth of {{limit}} tokens in between"
"""
_SELF = """
if len(sys.argv) > 1:
    print(CALL)
    sys.exit()
answers = set()
for seed in range(8):
    again = [sys.executable, __file__, "once"]
    env = {**os.environ, "PYTHONHASHSEED": str(seed)}
    answers.add(subprocess.run(again, env=env, capture_output=True, check=True).stdout)
assert len(answers) == 1, f"{len(answers)} different answers from 8 processes"
"""

CHECKS: Mapping[str, str | Mapping[str, str]] = {
    "CTX-02.4": """
rest = iter(parts(messages))
assert all(part in rest for part in parts(kept)), "came back in another order"
""",
    "CTX-06.2": {"openai": _BUDGET_OPENAI, "anthropic": _BUDGET_ANTHROPIC},
    "CTX-08.1": """
assert parts(kept) == parts(messages), "left out, though there is room for everything"
""",
    "CTX-08.1 own": """
assert CALL == kept, "trimmed its own answer again, under the same limit"
""",
    "CTX-08.3": """
for place in PLACES:
    assert parts(messages)[place] in parts(kept), f"left out: {parts(messages)[place]}"
""",
    "CTX-08.5": """
try:
    kept = CALL
except (IndexError, KeyError, TypeError, AttributeError, ArithmeticError, AssertionError):
    raise  # a slip in the code is no refusal
except Exception as refusal:
    assert str(refusal), "it refused and did not say why"
else:
    raise AssertionError(f"{len(kept)} messages, though what must be sent is over {limit} tokens")
""",
    "CTX-08.8": """
given, sent = parts(messages), parts(kept)
for part in sent:
    assert sent.count(part) <= given.count(part), f"was not handed over so: {part}"
""",
    "CTX-08.9": "# It raised: what must be sent fits by any count.",
    "CTX-09.1": {"openai": _PAIRS_OPENAI, "anthropic": _PAIRS_ANTHROPIC},
    "CTX-10.1": """
handed_over = copy.deepcopy(messages)
answers = []
for _ in range(30):
    messages = copy.deepcopy(handed_over)
    answers.append(CALL)
assert all(answer == answers[0] for answer in answers), "the same call, another answer"
""",
    "CTX-10.2": """
handed_over = copy.deepcopy(messages)
CALL
assert messages == handed_over, f"the caller's messages are {messages} now"
""",
    "CTX-10.3": _SELF,
    "CTX-11.6": "# It raised: no text may make it do so.",
    "CTX-16.1": """
given = [parts(messages) for messages in conversation]
before, after = ([part for part in parts(sent) if part not in given[-1]] for sent in answers)
assert after[: len(before)] == before, f"first {before}, then {after}"
""",
    "CTX-16.3": {
        "openai": _AMORTIZED.format("part['role'] == 'user'"),
        "anthropic": _AMORTIZED.format(_USERS),
    },
    "TRIM-1": """
role, block = parts(kept)[0]
assert role == "user" and block["type"] == "text", f"the first message is {kept[0]}"
""",
    "TRIM-2": """
signal.alarm(10)  # seconds until it is ended, should it hang
kept = CALL
assert isinstance(kept, list | tuple), f"{kept!r} is no list of messages"
assert all(isinstance(message, dict) and "role" in message for message in kept), kept
""",
}
