"""Guessing: how far readers who see no picture get, by the texts of questions and options alone."""
