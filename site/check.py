"""Looks whether every link and picture of the site in the folder given leads to a file of it."""

import html
import pathlib
import re
import sys
import urllib.parse

root = pathlib.Path(sys.argv[1]).resolve()
dead, links = [], 0
for page in root.rglob("*.html"):
    if page.parent.name == "gallery" and page.name != "index.html":  # a report, which needs no other file
        continue
    for to in re.findall(r'(?:href|src)="?([^"\s>]+)', page.read_text("utf-8")):
        to = html.unescape(to)
        if re.match(r"[a-z]+:|#", to):  # another site, or the same page
            continue
        path = urllib.parse.unquote(re.split("[#?]", to)[0])
        target = root / path.lstrip("/") if path.startswith("/") else page.parent / path
        links += 1
        if not target.is_file() and not (target / "index.html").is_file():
            dead.append(f"{page.relative_to(root)}: {to} leads nowhere")
print("\n".join(dead), file=sys.stderr, end="\n" if dead else "")
if dead or not links:
    sys.exit(f"{len(dead)} of {links} links lead nowhere")
