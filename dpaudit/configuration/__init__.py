"""Configurations and deployment files: read, checked, and reported with file and line."""
