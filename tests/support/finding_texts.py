#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the database says of findings against its Chinese texts: of each equation that registers itself its name, explanation, cause and next step;
each repair; and each piece of words of what was expected, what was there, and of before and after.   finding_texts.py   Each fault is a line; status 1 then."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SQL = ROOT / "sql"
LITERAL = r"'((?:[^']|'')*)'"
MARK = r"(?:%[1-9]|.+?)"
# Where texts are made. What stands behind i_period in the registration of an audit is SQL.
SAID = [*sorted((SQL / "audits").glob("*.sql")), *sorted((SQL / "functions").glob("repair*.sql")), *(SQL / "functions" / name for name in (
    "audit_missing.sql", "finding_list.sql", "statement_match.sql", "statement_tell.sql"))]
# Literals with a space that are no text of a finding: SQL that is executed, settings, parts of keys, and what a dead letter says.
NO_TEXT = re.compile(r"^%s-%s|[$%][1-9]|\bl\.|largesse\.|^ and |^\d+MB|%I|^opened again: |^claim_missing:|^\{")


def plain(text):
    return text.replace("''", "'")


def messages():
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("sql/finding_messages.def", "sql/messages.def", "reconciler/messages.def"))
    return [row.replace('\\"', '"') for row in re.findall(r'^MESSAGE\("((?:[^"\\]|\\.)*)", "', text, re.MULTILINE)]


def registrations(text):
    """(name, explanation, cause, next step) of each equation."""
    arguments = r"\s*,\s*".join([LITERAL] * 5)
    return [tuple(plain(g) for g in (a, c, d, e)) for a, _, c, d, e in re.findall(r"largesse\.audit_register\(\s*" + arguments, text)]


def pieces(text):
    """The literals that may be texts, without what registers, comments, and the subject of a finding, which is a part of its key."""
    text = re.sub(r"select largesse\.audit_register\((?:[^']|'(?:[^']|'')*')*?\);", "", text)
    text = re.sub(r"(?m)--.*$", "", text)
    text = re.sub(r"(?s)\bselect\s+(?:format\(\s*)?" + LITERAL, "select", text)
    text = re.sub(r"(?:interval|regexp_match\([^']*|substring\([^']*from|like|~|raise exception)\s*" + LITERAL, "", text)
    return [plain(found) for found in re.findall(LITERAL, text)]


def is_said(piece, rows):
    """A piece of a row, with figures where the row has its marks; or a whole text that a row stands for."""
    pattern, longest = re.compile(MARK.join(re.escape(part) for part in piece.split("%s"))), max(piece.split("%s"), key=len)
    sample = piece.replace("%s", "7")
    return any(pattern.search(row) for row in rows if longest in row) or any(re.fullmatch(".+".join(map(re.escape, re.split("%[1-9]", row))), sample) for row in rows)


def main():
    faults, rows = [], messages()
    whole = set(rows)
    words = {file: (ROOT / "reconciler/assets" / file).read_text(encoding="utf-8") for file in ("en.js", "zh_words.js")}
    equations = 0
    for path in SAID:
        text, where = path.read_text(encoding="utf-8").split("\n-- The activity that a finding is about")[0], path.relative_to(ROOT)
        for name, *texts in registrations(text):
            equations += 1
            faults += [f"{where}: no word finding.{name} in reconciler/assets/{file}" for file, known in words.items() if f"'finding.{name}':" not in known]
            faults += [f"{where}: {name}: no Chinese in sql/finding_messages.def for: {text}" for text in texts if text not in whole]
        spaced = [p for p in pieces(text) if re.search(r"[a-z]", p) and " " in p and not NO_TEXT.search(p)]
        faults += [f"{where}: no Chinese in sql/finding_messages.def for: {p}" for p in dict.fromkeys(spaced) if not is_said(p, rows)]
    print("\n".join(faults) if faults else f"{equations} equations, {len(rows)} texts")
    return 1 if faults or equations == 0 else 0


sys.exit(main())
