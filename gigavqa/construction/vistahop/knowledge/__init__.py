"""Offline knowledge: triples of a file, their neighbours in a stated order, and pages of a corpus (decision 22)."""
