"""Certificates and audits as people read them: words, terminal text, Markdown."""
