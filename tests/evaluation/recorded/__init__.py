"""What is reported of drawn data sets, recorded: `python -m tests.evaluation.recorded` records it anew."""
