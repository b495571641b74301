"""Has half a character in a string."""

from speaking import answer, calls

for call in calls():
    answer(call, {"answer": "refused", "token_class": "\ud83d", "measured": 0, "cap": 1000})
