"""Scorers that work every number of a benchmark's report out again, from its specification and without the product."""
