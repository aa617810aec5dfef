"""From annotations to checked questions: readers of tools' files, recipes, guessing, builds."""
