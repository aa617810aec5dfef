"""One reader a form of annotation files: COCO, DOTA, Label Studio, CVAT, YOLO, QuPath, CSV, GeoJSON ..."""
