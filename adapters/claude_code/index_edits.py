"""Edits to an index: titles and hooks restated, entries added and removed, bullets rewritten."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from interop.adapters.claude_code import index as indexes
from interop.adapters.claude_code.index import IndexFile
from interop.syntax import index_lines
from interop.syntax.index_lines import Ref
from interop.syntax.splice import Edit, splice

_DASH = " — "
HEADING = "# Memory Index\n\n"


def compatible(edits: Iterable[Edit]) -> list[Edit]:
    """Keep the edits that do not overlap one named before them."""
    kept: list[Edit] = []
    for edit in edits:
        at = bisect_right(kept, (edit.start, edit.end), key=lambda e: (e.start, e.end))
        if at and kept[at - 1].end > edit.start:
            continue
        if at < len(kept) and kept[at].start < edit.end:
            continue
        kept.insert(at, edit)
    return kept


def removed(file: IndexFile, gone: set[str]) -> tuple[list[Edit], list[str]]:
    """Take out the entries of removed files; give the edits, and what has to stay dangling."""
    edits: list[Edit] = []
    notes: list[str] = []
    by_place: dict[tuple[int, int], list[tuple[Ref, bool]]] = {}
    for ref, path in file.refs():
        by_place.setdefault(_place(ref), []).append((ref, path in gone))
    for (item, line), refs in by_place.items():
        if not any(dead for _, dead in refs):
            continue
        if item >= 0 and all(dead for _, dead in refs):
            edits.append(Edit(file.lines.items[item].start, file.lines.items[item].stop, ""))
        elif item >= 0:
            edits += _links_out(refs)
        elif file.lines.lines[line].kind == "row" and all(dead for _, dead in refs):
            row = file.lines.lines[line]
            edits.append(Edit(row.start, row.stop, ""))
        else:
            notes += [
                f"{file.path}:{line + 1}: a text names {ref.target!r}, which is nothing now"
                for ref, dead in refs
                if dead and ref.form == "link"
            ]
    return edits, notes


def _links_out(refs: Sequence[tuple[Ref, bool]]) -> Iterator[Edit]:
    """Cut dead links out of an item that keeps others, each with its separator."""
    lines: dict[int, list[tuple[Ref, bool]]] = {}
    for ref, dead in refs:
        if ref.form == "link":
            lines.setdefault(ref.line, []).append((ref, dead))
    for links in lines.values():
        before: Ref | None = None
        first: Ref | None = None
        last: Ref | None = None
        for ref, dead in links:
            if dead:
                first, last = first or ref, ref
                continue
            if first is not None and last is not None:
                if before is None:
                    yield Edit(first.outer_start, ref.outer_start, "")
                else:
                    yield Edit(before.stop, last.stop, "")
            before, first, last = ref, None, None
        if first is not None and last is not None:
            yield Edit(before.stop if before else first.outer_start, last.stop, "")


def renamed(file: IndexFile, names: Mapping[str, tuple[str | None, str | None]]) -> Iterator[Edit]:
    """Follow changed names in the wiki links that use them."""
    for ref, path in file.refs():
        if path is None or ref.form != "wiki" or path not in names:
            continue
        old, new = names[path]
        if old is None or indexes.normal(ref.target.strip()) != indexes.normal(old):
            continue
        stem = path.rpartition("/")[2].removesuffix(".md")
        target = new if new and not set(new) & set("[]|#\n\r") and new == new.strip() else stem
        yield Edit(ref.target_start, ref.target_end, target)


class Entries:
    """What the entries of one index say, by file and by place."""

    def __init__(self, file: IndexFile) -> None:
        self.file = file
        self._by_path: dict[str, list[Ref]] = {}
        self._by_place: dict[tuple[int, int], list[tuple[str, Ref]]] = {}
        for path, ref in indexes.entries(file):
            self._by_path.setdefault(path, []).append(ref)
            self._by_place.setdefault(_place(ref), []).append((path, ref))

    def restated(self, path: str, title: str | None, hook: str | None) -> list[Edit]:
        """Give the edits that make a file's entries say this, as far as they can."""
        entries = self._by_path.get(path, [])
        if title is hook is None and entries and all(map(self._is_all, entries)):
            # an entry that is nothing but this reference is to say nothing: it goes
            items = (self.file.lines.items[i] for i in {ref.item: None for ref in entries})
            return [Edit(item.start, item.stop, "") for item in items]
        edits: list[Edit] = []
        for ref in entries:
            edits += self._restated_at(ref, path, title, hook)
            if title is not None:
                break  # the first entry counts; only what is unsaid must be unsaid everywhere
        return edits

    def _is_all(self, ref: Ref) -> bool:
        """Is the reference, with its hook, all that its item says?"""
        file = self.file
        if ref.item < 0:
            return False
        item = file.lines.items[ref.item]
        end = ref.hook[1] if ref.hook else ref.outer_end
        return file.text[item.text_start : item.text_end] == file.text[ref.outer_start : end]

    def _restated_at(self, ref: Ref, path: str, title: str | None, hook: str | None) -> list[Edit]:
        file = self.file
        old = (file.title(ref), file.hook(ref))
        for way in dict.fromkeys([(title, hook), (title, old[1]), (old[0], hook)]):
            edits = list(_spans(file, ref, path, way[0], way[1]))
            if way != old and edits and self._reads(ref, path, edits, way):
                return edits
        return []

    def _reads(
        self, ref: Ref, path: str, edits: list[Edit], way: tuple[str | None, str | None]
    ) -> bool:
        """Does the item, or the line, say just this afterwards, and else what it said?"""
        file = self.file
        if ref.item >= 0:
            item = file.lines.items[ref.item]
            start, stop = item.start, item.stop
        else:
            line = file.lines.lines[ref.line]
            start, stop = line.start, line.stop
        shifted = [Edit(e.start - start, e.end - start, e.new) for e in edits]
        block = splice(file.text[start:stop], shifted)
        after = indexes.read(file.path, block, file.resolver)
        expected: list[tuple[str, str | None, str | None]] = []
        for named, other in self._by_place[_place(ref)]:
            if other.start != ref.start:
                expected.append((named, file.title(other), file.hook(other)))
            elif way != (None, None):
                expected.append((path, *way))
        said = [(named, after.title(r), after.hook(r)) for named, r in indexes.entries(after)]
        whole = len(after.lines.items) == (1 if ref.item >= 0 else 0) and not after.notes
        return said == expected and whole and after.lines.open_from < 0


def _place(ref: Ref) -> tuple[int, int]:
    return (ref.item, -1) if ref.item >= 0 else (-1, ref.line)


def _spans(
    file: IndexFile, ref: Ref, path: str, title: str | None, hook: str | None
) -> Iterator[Edit]:
    row = file.lines.lines[ref.line].kind == "row"
    if title != file.title(ref):
        if title is None:
            yield Edit(ref.start, ref.end, f"`{path}`")
        elif ref.form != "link":
            yield Edit(ref.start, ref.end, f"[{title}]({indexes.target_of(ref.target)})")
        elif ref.title:
            yield Edit(*ref.title, title)
        else:
            yield Edit(ref.start + 1, ref.start + 1, title)
    if hook != file.hook(ref):
        if ref.hook and hook is not None:
            yield Edit(*ref.hook, hook)
        elif ref.hook:
            yield Edit(ref.hook[0] if row else ref.outer_end, ref.hook[1], "")
        elif hook is not None and not row:
            yield Edit(ref.outer_end, ref.outer_end, separator(file) + hook)


def separator(file: IndexFile) -> str:
    """Give what the index puts between a link and its hook: as the last entry has it."""
    for ref in reversed(file.lines.refs):
        if ref.form == "link" and ref.item >= 0 and ref.hook:
            found = file.text[ref.outer_end : ref.hook[0]]
            return _DASH if "â" in found else found
    return _DASH


def appended(file: IndexFile | None, new: Sequence[tuple[str, str | None, str | None]]) -> str:
    """Give the index with entries (path, title, hook) added, in the shape that it uses."""
    if file is None:
        lines = [_line("- ", "", _DASH, entry) for entry in new]
        return HEADING + "".join(f"{line}\n" for line in lines)
    text = file.text
    bullet, bold = "- ", ""
    for ref in reversed(file.lines.refs):
        if ref.form == "link" and ref.item >= 0:
            item = file.lines.items[ref.item]
            marker = text[item.start : item.text_start]
            bullet = marker if marker in ("- ", "* ", "+ ") else "- "
            bold = "**" if ref.outer_start < ref.start else ""
            break
    cut = text.find("\n")
    eol = "\r\n" if cut > 0 and text[cut - 1] == "\r" else "\n"
    lines = [_line(bullet, bold, separator(file), entry) for entry in new]
    at = _end(file)
    head, tail = text[:at], text[at:]
    block = eol.join(lines)
    if head and not head.endswith("\n") and head != "\ufeff":
        block = eol + _gap(file, at, eol) + block
        return head + block + tail
    return head + _gap(file, at, eol) + block + eol + tail


def _line(bullet: str, bold: str, dash: str, entry: tuple[str, str | None, str | None]) -> str:
    path, title, hook = entry
    target = indexes.target_of(path)
    line = ""
    for words, says in ((title, hook), (_calm(title), hook), (_calm(title), _calm(hook))):
        link = f"[{words}]({target})" if words else f"`{path}`"
        line = f"{bullet}{bold}{link}{bold}{dash if says else ''}{says or ''}"
        found = index_lines.parse(line, lambda form, t: form == "link" or t == path)
        if found.refs and len(found.items) == 1:
            ref = found.refs[0]
            said = [line[s[0] : s[1]] if s else None for s in (ref.title, ref.hook)]
            if said == [words or None, says or None]:
                break
    return line


def _calm(words: str | None) -> str | None:
    return words.replace("`", "'").replace("\\", "/") if words else words


def _end(file: IndexFile) -> int:
    """Say where new entries go: at the end, unless something there is never closed."""
    if file.lines.open_from < 0:
        return len(file.text)
    at = file.lines.open_from
    for line in file.lines.lines:
        if line.start <= at < line.stop:
            return line.start
    return len(file.text)


def _gap(file: IndexFile, at: int, eol: str) -> str:
    """Set entries apart from a text or table directly above them."""
    above = [line for line in file.lines.lines if line.stop <= at and line.end > line.start]
    last = [line for line in file.lines.lines if line.stop <= at]
    if not above or last[-1].kind in ("item", "more", "blank"):
        return ""
    return eol
