"""One privacy loss in cells, and many losses as few: what the transform starts from."""
