"""Tests of reading files elsewhere."""
