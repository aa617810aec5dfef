"""Reads ranges of files that lie elsewhere: behind HTTP, and in object stores."""
