"""What slides and microscopes write beside their pixels: planes, scenes, resolution, regions in microns."""
