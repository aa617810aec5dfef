"""What comes in is read as it was meant, or refused with a sentence: shown by files of the field, theme by theme."""
