"""The disk layer, the only part of interop that touches the disk.

    tree.py          reading a store
    transaction.py   writing a plan, all of it or nothing
    recovery.py      taking back what was interrupted
    undo.py          taking back the last apply
    single.py        a store that is one file
    replacing.py     writing such a file, and taking that back
    stream.py        stdin as such a file
    state.py         what this machine remembers of stores
    journal.py, staging.py, layout.py, lock.py, durable.py
                     the record, the new bytes, the places, the lock, and the single steps

The promise is in docs/safety.md: every file is old or new at every instant; the set of files is one
or the other once interop has run on it again.
"""
