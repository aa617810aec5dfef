"""Measures anybody's OpenAI-compatible service under load; knows no gateway, and where no picture is cut, no pixel."""
