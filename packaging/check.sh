#!/usr/bin/env bash
# Checks a release in dist/: checksums, signatures, what the .deb and the archive of this machine install, that the program in them
# runs and knows its version, that its pages and completions work, that the bill of materials names what is inside, and
# the container image.
set -euo pipefail
cd "$(dirname "$0")/../dist"
fail() { echo "check: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sha256sum --quiet -c SHA256SUMS
arch=$(dpkg --print-architecture)
deb=$(ls brokermark-*-linux-"$arch".deb)
name=${deb%.deb}
version=${name#brokermark-}
version=${version%-linux-*}

# What SECURITY.md has its reader type takes a good signature and nothing else.
verify=$(sed -n '/^```sh$/,/^```$/{//!p}' ../SECURITY.md)
signed=$work/signed
verifies() { (cd "$signed" && bash -ec "$verify") >"$work/said" 2>&1; }
mkdir "$signed" && cp "$deb" SHA256SUMS* "$signed/"
if [ -e SHA256SUMS.sig ]; then
	cp ../packaging/allowed_signers "$signed/"
	verifies || fail "the release is not what was signed: $(cat "$work/said")"
fi
for key in key other; do
	ssh-keygen -q -t ed25519 -N '' -C '' -f "$work/$key"
	echo "brokermark namespaces=\"brokermark\" $(cat "$work/$key.pub")" >"$work/$key.signers"
done
rm -f "$signed/SHA256SUMS.sig"
! ../packaging/sign.sh "$work/key" "$signed/SHA256SUMS" "$work/other.signers" 2>/dev/null || fail 'a key that is not published signs'
../packaging/sign.sh "$work/key" "$signed/SHA256SUMS" "$work/key.signers"
cp "$work/key.signers" "$signed/allowed_signers"
verifies || fail "a good signature does not verify: $(cat "$work/said")"
cp "$work/other.signers" "$signed/allowed_signers"
! verifies || fail 'a signature of another key verifies'
cp "$work/key.signers" "$signed/allowed_signers"
printf x | dd of="$signed/$deb" bs=1 conv=notrunc status=none
! verifies || fail 'a package of which one byte was changed verifies'
(cd "$signed" && sha256sum "$deb" >SHA256SUMS)
! verifies || fail 'checksums that were changed with the package verify'

dpkg -x "$deb" "$work/root"
for file in usr/bin/brokermark usr/share/man/man1/brokermark-run.1.gz usr/share/bash-completion/completions/brokermark \
	usr/share/zsh/vendor-completions/_brokermark usr/share/fish/vendor_completions.d/brokermark.fish \
	usr/share/doc/brokermark/copyright usr/share/doc/brokermark/THIRD-PARTY-NOTICES.txt usr/share/doc/brokermark/docs/method.md; do
	[ -s "$work/root/$file" ] || fail "$deb lacks $file"
done
[ "$(dpkg -f "$deb" Package)" = brokermark ] || fail "$deb is of another package"
program=$work/root/usr/bin/brokermark
"$program" --version | grep -qF "brokermark $version " || fail "the program says it is $("$program" --version)"
HOME=$work "$program" version --licenses | cmp - "$work/root/usr/share/doc/brokermark/THIRD-PARTY-NOTICES.txt"
! ldd "$program" >/dev/null 2>&1 || fail 'the program is not static'
if command -v man >/dev/null; then
	for page in "$work"/root/usr/share/man/man1/*.gz; do
		MANWIDTH=100 man -l "$page" 2>&1 | grep -q 'NAME' || fail "$page can't be shown"
	done
fi
bash -n "$work/root/usr/share/bash-completion/completions/brokermark"

tar -xzf "$name.tar.gz" -C "$work"
cmp "$program" "$work/$name/bin/brokermark" || fail 'the archive holds another program than the package'
for part in pkg:golang/std@ pkg:golang/github.com/nats-io/nats-server/v2@ pkg:npm/echarts@; do
	grep -qF "$part" "$name.cdx.json" || fail "$name.cdx.json lacks $part"
done

mkdir "$work/image" "$work/rootfs"
tar -xf "$name.image.tar" -C "$work/image"
for layer in "$work"/image/*.tar.gz; do tar -xzf "$layer" -C "$work/rootfs"; done
cmp "$program" "$work/rootfs/usr/bin/brokermark" || fail 'the image holds another program than the package'
grep -qF '"User":"65532:65532"' "$work"/image/sha256:* || fail 'the image runs as root'
if [ "$(id -u)" = 0 ]; then
	[ "$(stat -c %u:%g "$work/rootfs/work")" = 65532:65532 ] || fail "the image's user can't write to its folder"
	chroot --userspec=65532:65532 "$work/rootfs" /usr/bin/brokermark --version | grep -qF "brokermark $version " || fail 'the program does not run in its image'
fi
echo "checked $deb, $name.tar.gz, $name.cdx.json and $name.image.tar"
