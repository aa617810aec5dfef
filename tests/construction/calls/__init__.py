"""Tests of model calls: a real gateway and a real worker, whose engine is a stand-in model server of these tests."""
