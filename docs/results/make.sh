#!/bin/sh
# Runs the published studies at quick scale, unless the store holds them, and writes their reports beside this file. It takes
# about 40 minutes on two cores, and nothing else should run meanwhile.
set -eu
cd "$(dirname "$0")"
brokermark=${BROKERMARK:-../../bin/brokermark}
store=${STORE:-studies.db}

figure() { # STUDY NAME [FLAG…]
	study=$1 name=$2
	shift 2
	"$brokermark" figure multiples --store "$store" -o "$study-$name.svg" "$@"
}

for study in rabiee-2018 nilsson-pregen-2020 raje-2019 chen-2024 dyjach-2024; do
	"$brokermark" run "$study" --scale quick --store "$store" >/dev/null || test $? -eq 4 -o $? -eq 5 # the report says which points failed
	"$brokermark" report study --store "$store" --where "study=$study" -o "$study.md"
done
