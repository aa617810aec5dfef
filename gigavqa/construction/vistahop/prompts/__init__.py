"""The 19 prompts of VistaHop's pipeline as printed in appendix B, one a file: text, inputs, and form of answers."""
