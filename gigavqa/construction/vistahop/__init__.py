"""VistaHop's questions: chains of facts from something in a picture to an answer, and sums of several."""
