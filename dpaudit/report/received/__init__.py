"""Reports as they are received: their files, and the verdict that they state."""
