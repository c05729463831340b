"""Audits of membership-inference scores that were computed elsewhere."""
