"""Changes to a table file: cells are spliced, new rows go where the checker sees them."""

from __future__ import annotations

from collections.abc import Sequence

from interop import fields
from interop.adapters.memory_compiler import rows, tables
from interop.adapters.memory_compiler.reading import Part
from interop.adapters.memory_compiler.settling import Change, Made, Refused
from interop.adapters.memory_compiler.tables import TableFile
from interop.adapters.memory_compiler.topic import Columns
from interop.model import Record
from interop.syntax import pipe_tables
from interop.syntax.pipe_tables import Row
from interop.syntax.splice import Edit, splice


class TableEdits:
    """How changes are made in one table file."""

    def __init__(
        self, columns: Columns, part: Part | None, source: Part | None = None, *, second: bool
    ) -> None:
        self.columns = columns
        self.source = source if isinstance(source, TableFile) else None
        """The same file of the topic that the records come from."""
        self.second = second
        """Is a new table one of the second version?"""
        assert not isinstance(part, tables.TableFile) or part.columns is columns
        self.file: TableFile | None = part if isinstance(part, TableFile) else None

    def blank(self) -> str:
        """Give a new file without rows."""
        return f"# {self.columns.title}\n\n{self._head()}"

    def impossible(self, change: Change) -> Refused | None:
        """Refuse a new row where the checker would take another table for this one."""
        file = self.file
        if file is None or change.current is not None or file.scan.tables or file.seen is None:
            return None
        return Refused(
            "key",
            f"{self.columns.path} has a table of another kind, and the checker takes that one",
            f"move it out of {self.columns.path}, or mend its header",
        )

    def takes_new(self, others: Sequence[Change]) -> bool:
        """Where a new row has no place, `impossible` says so."""
        return True

    def made(self, changes: Sequence[Change]) -> Made | None:
        """Make the changes and read the file back."""
        text = self._text(changes)
        now = tables.read(self.columns, text)
        expected: dict[str, Record] = {}
        if self.file is not None:
            expected.update(self.file.records)
        records: dict[str, Record] = {}
        for change in changes:
            assert change.meant is not None, "rows are never taken out"
            key = change.current.key if change.current else f"{self.columns.path}#{change.id}"
            expected[key] = fields.with_key(change.meant, key)
            records[change.key] = expected[key]
        return Made(text, records, {}) if now.records == expected else None

    def _text(self, changes: Sequence[Change]) -> str:
        new = [
            rows.row(self.columns, change.id, change.meant, self._original(change))
            for change in changes
            if change.current is None and change.meant is not None
        ]
        if self.file is None:
            return self.blank() + "".join(f"{pipe_tables.written(row)}\n" for row in new)
        text = self.file.text
        edits = [edit for change in changes for edit in self._cells(self.file, change)]
        if new and self.file.scan.tables:
            edits.append(pipe_tables.append(text, self._last(self.file), new))
        elif new:
            edits.append(Edit(len(text), len(text), self._new_table(text, new)))
        return splice(text, edits)

    def _original(self, change: Change) -> Sequence[str]:
        """Give the cells of a new row where it comes from, if that is a table too."""
        if self.source is None:
            return ()
        own = f"{self.columns.path}#{rows.own_id(self.columns, change.key)}"
        row = self.source.rows.get(change.key) or self.source.rows.get(own)
        return pipe_tables.values(self.source.text, row) if row is not None else ()

    def _cells(self, file: TableFile, change: Change) -> Sequence[Edit]:
        """Restate the cells that differ."""
        if change.current is None or change.meant is None:
            return ()
        row = file.rows[change.current.key]
        there = pipe_tables.values(file.text, row)
        closes = not rows.is_closed(self.columns, change.current)
        edits: list[Edit] = []
        for n, field in enumerate(self.columns.fields, 1):
            before, after = (tables.value(r, field) for r in (change.current, change.meant))
            words = rows.cell(self.columns, change.meant, field)
            # what closes a row has to say by what; a gap that was left before is left as it is
            demanded = field == "evidence" and closes and not there[n] and words
            if before != after or demanded:
                edits.append(pipe_tables.set_cell(file.text, row, n, words))
        return edits

    def _last(self, file: TableFile) -> Row:
        """Give the row behind which new ones go: the last that the checker sees, else the last."""
        seen = file.seen
        last = file.scan.tables[-1]
        if seen is not None and file.is_seen:
            shown = {seen.start, *(start for start, _ in seen.rows)}
            visible = [
                row
                for table in file.scan.tables
                for row in (table.header, *table.rows)
                if pipe_tables.line_start(file.text, row) in shown
            ]
            end = visible[-1]
            return next((t.alignment for t in file.scan.tables if t.header is end), None) or end
        return last.rows[-1] if last.rows else last.alignment or last.header

    def _head(self, line_end: str = "\n") -> str:
        header = self.columns.headers[-1 if self.second else 0]
        return f"{pipe_tables.written(header)}{line_end}|{'---|' * len(header)}{line_end}"

    def _new_table(self, text: str, new: Sequence[Sequence[str]]) -> str:
        line_end = "\r\n" if "\r\n" in text else "\n"
        if not text.strip("\ufeff \t\r\n"):
            lead = f"# {self.columns.title}{line_end}{line_end}"
        else:
            lead = line_end if text.endswith("\n") else line_end * 2
        body = "".join(f"{pipe_tables.written(row)}{line_end}" for row in new)
        return lead + self._head(line_end) + body
