#!/bin/sh
# make.sh paper STUDY EXPERIMENT…  measures experiments of a study at the scale paper, in three repetitions that take turns, keeps their
#     records in data/ and writes STUDY-paper.md from all records there. What data/ holds already counts. Without experiments it only writes.
# make.sh  runs the published studies at quick scale, and the defaults, unless the store holds them, and writes their reports beside this
#     file. What fails or is void is measured once more. It takes about an hour on two cores.
# Nothing else should run meanwhile.
set -eu
cd "$(dirname "$0")"
brokermark=${BROKERMARK:-../../bin/brokermark}
store=${STORE:-studies.db}

paper() { # STUDY EXPERIMENT…
	study=$1 store=${STORE:-paper.db}
	shift
	for file in data/"$study".*.jsonl.gz; do
		if [ -e "$file" ]; then
			gunzip -c "$file" >records.jsonl
			"$brokermark" import records.jsonl --store "$store" >/dev/null
			rm records.jsonl
		fi
	done
	for experiment; do
		"$brokermark" run "$study" --scale paper --only "$experiment" --repeat 3 --store "$store" >/dev/null || test $? -eq 4 -o $? -eq 5
		mkdir -p data
		"$brokermark" export --store "$store" --where "study=$study,sweep=$experiment" | gzip -9n >data/"$study.$experiment".jsonl.gz
	done
	"$brokermark" report study --store "$store" --where "study=$study" -o "$study-paper.md"
}

if [ "${1:-}" = paper ]; then
	shift
	paper "$@"
	exit
fi

figure() { # FILE NAME SELECTION [FLAG…]
	file=$1 name=$2 selection=$3
	shift 3
	"$brokermark" figure "$name" --store "$store" -o "$file.svg" --where "$selection" "$@"
}

run() { # STUDY [FLAG…]
	for _ in 1 2; do # the second measures only what failed or is void
		"$brokermark" run "$@" --store "$store" >/dev/null || test $? -eq 4 -o $? -eq 5 # the report says which points failed
	done
}

more_for_searches() { # STUDY: flags
	case $1 in nilsson-pregen-2020) echo --set sustainable.trial=500ms --set sustainable.confirm=2s --set sustainable.budget=20s --set curve.fractions=[0.05,0.5,0.8,0.95,1.1,1.3,2] ;; esac
}

for study in rabiee-2018 nilsson-pregen-2020 raje-2019 chen-2024 dyjach-2024 ingestion; do
	# shellcheck disable=SC2046 # flags are words
	run "$study" --scale quick $(more_for_searches "$study")
	"$brokermark" report study --store "$store" --where "study=$study" -o "$study.md"
done
run defaults
{
	printf '# Studies\n\n## defaults\n\n%s\n\n' "$(sed -n 's/^question: //p' ../../studies/defaults/study.yaml)"
	"$brokermark" report headtohead --store "$store" --where study=defaults --format markdown | sed -e 1,2d -e 's/^#/##/'
} >defaults.md

figure rabiee-2018-batch multiples study=rabiee-2018,sweep=kafka-1,partitionsPerTopic=5,mode=at-most-once \
	--metric publish_rate --col client.batch.size --row when --title "Kafka's rate by batch size, 5 partitions, snappy"
figure nilsson-pregen-2020-latency latency-throughput study=nilsson-pregen-2020,messageSize=4KiB,when=now,guarantee=at-least-once
figure raje-2019-throughput multiples study=raje-2019,sweep=throughput \
	--metric publish_rate --col model --row broker --title "Throughput of 50 B messages, then and now"
figure dyjach-2024-latency multiples study=dyjach-2024,sweep=latency \
	--metric e2e_mean_ns --col messageSize --row broker --title "Mean latency at 40 messages a second, TLS off and on"
