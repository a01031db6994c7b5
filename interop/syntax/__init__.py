"""Syntax that several formats share: helpers that return values with the spans that state them.

They know syntax, not formats.
"""
