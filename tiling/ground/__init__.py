"""Where on earth a pixel lies: transforms, reference systems, places, GeoJSON, ground sample distance."""
