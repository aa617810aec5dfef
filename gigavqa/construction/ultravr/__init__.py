"""UltraVR's questions of annotated images, by the rules of its appendices A and F."""
