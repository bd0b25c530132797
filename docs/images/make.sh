#!/usr/bin/env bash
# Draws docs/images/decision.png: the top of the record of a decision, in headless Chromium.
set -euo pipefail
program=$(realpath "${1:?usage: make.sh BROKERMARK}")
cd "$(dirname "$0")"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp ../gallery/advise.db "$work/store.db" # opening a store may write to it
"$program" report recommend --store "$work/store.db" -o "$work/decision.html"
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --force-color-profile=srgb \
	--window-size=1200,1240 --virtual-time-budget=5000 --screenshot="$work/decision.png" "file://$work/decision.html" >/dev/null 2>&1
# 256 colours are plenty for a page, and a quarter of the size.
if command -v pngquant >/dev/null; then pngquant --force --output decision.png 256 "$work/decision.png"; else cp "$work/decision.png" decision.png; fi
ls -l decision.png
