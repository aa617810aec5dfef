"""How samples of any depth become the eight bits that are shown: grammar, declared displays, tones, proposals."""
