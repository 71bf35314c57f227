"""Derivatives: tapes, the backward walk, and the gradient registry."""
