"""An eye chart for models that gigavqa serves: benchmark, drawn pictures, a small model that reads it, command."""
