#!/usr/bin/env bash
# Builds a release into dist/: archives, packages, a container image, a bill of materials for each program, checksums.
# The same commit gives the same bytes again. VERSION names the release (default: the last tag, or 0.0.0-COMMIT);
# PLATFORMS those to build; SIGN the key that signs the checksums (sign.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC CGO_ENABLED=0 GOFLAGS=-buildvcs=false
umask 022

NFPM=${NFPM:-go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2}
COMMIT=$(git rev-parse --short=12 HEAD)
VERSION=${VERSION:-$(git describe --tags --exact-match 2>/dev/null || echo "0.0.0-$COMMIT")}
export VERSION=${VERSION#v}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
PLATFORMS=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
DIST=$PWD/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

test -s web/dist/main.js || { echo 'the front end is not built: make web' >&2; exit 1; }
rm -rf "$DIST" && mkdir -p "$DIST"
go build -o "$work/" ./packaging/manual ./packaging/sbom ./packaging/image

# pack FILE DIRECTORY NAME: a gzipped tar that depends on nothing but the content
pack() {
	tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$2" -cf - "$3" | gzip -9n >"$1"
}

"$work/manual" "$work/usr"
find "$work/usr/share/man" -name '*.1' -exec gzip -9n {} +
doc=$work/usr/share/doc/brokermark
mkdir -p "$doc"
cp README.md CHANGELOG.md LICENSE SECURITY.md "$doc/"
cp LICENSE "$doc/copyright"
cp -r docs "$doc/docs"
cp internal/notices/THIRD-PARTY-NOTICES.txt "$doc/"

for platform in $PLATFORMS; do
	os=${platform%/*} arch=${platform#*/} name=brokermark-$VERSION-${platform/\//-}
	stage=$work/$name
	cp -r "$work/usr" "$stage" && mkdir -p "$stage/bin"
	GOOS=$os GOARCH=$arch go build -trimpath -ldflags "-s -w -buildid= -X github.com/brokermark/brokermark/internal/cli.Version=$VERSION" \
		-o "$stage/bin/brokermark" ./cmd/brokermark
	"$work/sbom" "$stage/bin/brokermark" "$VERSION" >"$DIST/$name.cdx.json"
	pack "$DIST/$name.tar.gz" "$work" "$name"
	[ "$os" = linux ] || continue
	for kind in deb rpm; do
		STAGE=$stage ARCH=$arch $NFPM package --config packaging/nfpm.yaml --packager $kind --target "$DIST/$name.$kind"
	done
	"$work/image" -arch "$arch" -version "$VERSION" -o "$DIST/$name.image.tar" "$stage"
done
(cd "$DIST" && sha256sum -- * >SHA256SUMS)
if [ -n "${SIGN:-}" ]; then packaging/sign.sh "$SIGN" "$DIST/SHA256SUMS"; else echo 'not signed: SIGN names no key' >&2; fi
ls -l "$DIST"
