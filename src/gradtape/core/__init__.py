"""The value vocabulary, the op record and dispatch: nothing here knows a particular op."""
