"""Fuzzing every reader of bytes that interop did not write, from seeds made of the golden stores.

``make fuzz`` runs it with atheris, which follows the branches of the code; ``python -m fuzz`` also
runs without it, with blind mutations. What was found stays in ``fuzz/found`` and is tried again by
``tests/test_fuzz.py``.
"""
