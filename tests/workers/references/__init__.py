"""Every family's reference: transformers' own class, or parts of the published architecture put together plainly."""
