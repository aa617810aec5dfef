"""Builds as files of annotation tools: what was annotated, and what is asked about it."""
