"""Interfaces of other packages over tril."""
