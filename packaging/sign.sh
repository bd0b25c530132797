#!/usr/bin/env bash
# sign.sh KEY FILE [SIGNERS] signs FILE into FILE.sig. KEY is a file of ssh: a private key that is kept offline, or the public part of
# one that a security key or an agent holds. A key that SIGNERS (default: allowed_signers) doesn't name signs nothing.
set -euo pipefail
signers=${3:-$(dirname "$0")/allowed_signers}
ssh-keygen -q -Y sign -n brokermark -f "$1" "$2"
if ! ssh-keygen -q -Y verify -n brokermark -I brokermark -f "$signers" -s "$2.sig" <"$2"; then
	rm "$2.sig"
	echo "sign: $signers doesn't name the key $1" >&2
	exit 1
fi
