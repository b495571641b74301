"""The plain trimmer: a function from messages and a token limit to messages, judged by what applies to it."""
