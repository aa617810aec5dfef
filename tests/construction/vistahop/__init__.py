"""Tests of what makes VistaHop's questions."""
