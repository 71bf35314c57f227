"""Graphs: what `function` traces, optimises, runs, prints and saves."""
