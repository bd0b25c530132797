#!/usr/bin/env bash
# Draws docs/images/report.png: the top of the page that a stored comparison makes, in headless Chromium.
set -euo pipefail
cd "$(dirname "$0")"
program=$(realpath "${1:?usage: make.sh BROKERMARK}")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp ../gallery/head-to-head.db "$work/store.db" # opening a store may write to it
"$program" report --store "$work/store.db" -o "$work/report.html"
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --force-color-profile=srgb \
	--window-size=1200,760 --virtual-time-budget=5000 --screenshot="$work/report.png" "file://$work/report.html" >/dev/null 2>&1
# 256 colours are plenty for a page, and a quarter of the size.
if command -v pngquant >/dev/null; then pngquant --force --output report.png 256 "$work/report.png"; else cp "$work/report.png" report.png; fi
ls -l report.png
