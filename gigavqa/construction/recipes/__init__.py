"""Recipes: what makes candidates of annotations, and words them."""
