"""Certificates: the evidence on a claim, the verdict that follows from it, and their JSON form."""
