"""What is reported of drawn data sets, recorded: `python -m tests.reports.recorded` records it anew."""
