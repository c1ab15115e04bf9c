#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the console's scripts against their rules: each text has its Chinese and none is left over, words of closed sets exist in both languages or in
neither, and nothing makes HTML out of data.   console_texts.py FOLDER   Each fault is a line; status 1 then."""
import re
import sys
from pathlib import Path

STRING = r"'((?:[^'\\]|\\.)*)'"
FORBIDDEN = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\('style'")


def plain(text):
    return text.replace("\\'", "'").replace("\\\\", "\\")


def rows(path):
    return [(plain(a or b), c or d) for a, b, c, d in re.findall(r"(?:%s|^\s*(\w+)):\s+(?:%s|\"([^\"]*)\")," % (STRING, STRING), path.read_text("utf-8"), re.M)]


def main(folder):
    faults, used = [], set()
    chinese = dict(rows(folder / "zh_a_l.js") + rows(folder / "zh_m_z.js"))
    english_words, chinese_words = ({name for name, _ in rows(folder / file)} for file in ("en.js", "zh_words.js"))
    for path in sorted(folder.glob("*.js")):
        if path.name.startswith("zh"):
            continue
        source = re.sub(r"(?m)^\s*//.*$", "", path.read_text("utf-8"))
        faults += [f"{path.name}: {found.group()} makes code or HTML out of text" for found in FORBIDDEN.finditer(source)]
        used |= {plain(text) for text in re.findall(r"\bt\(\s*" + STRING, source)}
        used |= {plain(text) for _, text in re.findall(r"\btn\([^;]*?,\s*" + STRING + r",\s*" + STRING + r",?\s*\)", source)}
        if path.name == "app.js":  # the menu's labels are translated when it is shown
            used |= {plain(label) for label in re.findall(r"\['[\w-]+', (?=')(?='[A-Z])" + STRING + r"\]", source)}
    faults += [f"no Chinese for: {text}" for text in sorted(used - set(chinese))]
    faults += [f"Chinese for a text that nobody shows: {text}" for text in sorted(set(chinese) - used)]
    faults += [f"no Chinese for the word {name}" for name in sorted(english_words - chinese_words)]
    faults += [f"placeholders differ: {text}" for text, other in chinese.items() if set(re.findall(r"\{\w+\}", text)) != set(re.findall(r"\{\w+\}", other))]
    page = (folder / "index.html").read_text("utf-8")
    faults += [f"index.html: {found} is against the policy" for found in re.findall(r"<script>|<style|\sstyle=|\son\w+=", page)]
    print("\n".join(faults) if faults else f"{len(used)} texts, {len(english_words)} words")
    return 1 if faults else 0


sys.exit(main(Path(sys.argv[1])))
