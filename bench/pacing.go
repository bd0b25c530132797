package main

import (
	"context"
	"fmt"
	"strconv"
)

const paceWindow = 10_000 // messages, our default

// pacing takes what fixed rates cost the generator, and how late it sends. The bare loops beside it show what the
// client alone takes of that; they are paced with the runtime's own sleep, half a millisecond late.
func (b *bench) pacing(ctx context.Context) error {
	rates := []struct {
		rate  int
		cores float64
	}{{1_000, 0.06}, {20_000, 0.25}}
	const lag = 300e3 // ns
	return b.kafka(ctx, func(k *kafkaRun) error {
		s := section{
			Title: "Kafka at fixed rates, 100 B",
			Settings: fmt.Sprintf("1 topic, 1 partition, 1 producer; acks=1, batch.size %d, linger.ms %d; 1 consumer, end-to-end latency taken; "+
				"nothing else on the broker", kafkaBatch, kafkaLinger.Milliseconds()),
		}
		var list []contender
		for _, r := range rates {
			list = append(list, contender{fmt.Sprintf("bare franz-go at %d/s", r.rate), func(ctx context.Context) (sample, error) {
				topic := k.topic()
				if err := k.create(ctx, topic); err != nil {
					return sample{}, err
				}
				messages := float64(r.rate) * (b.warmup + b.measure).Seconds()
				return b.bare(ctx, loopPlan{
					Client: "kafka", Address: k.address, Name: topic, Window: paceWindow, Messages: int64(messages), Rate: float64(r.rate),
				})
			}}, contender{fmt.Sprintf("Brokermark at %d/s", r.rate), func(ctx context.Context) (sample, error) {
				return b.steady(ctx, k.address, k.broker, kafkaBatches(), "--measure", "rate", "--rate", strconv.Itoa(r.rate))
			}})
		}
		if err := b.compare(ctx, s, list, nil, k.clear); err != nil {
			return err
		}
		compared := &b.report.Sections[len(b.report.Sections)-1]
		compared.Verdicts = nil // at these rates the books' own cost, a reading every 0.1 s, is too short for 5 % agreement
		for i, r := range rates {
			one := compared.Runs[2*i+1] // behind its bare loop
			compared.bound(one, "share of one core", func(x sample) float64 { return x.Cores }, r.cores, percentForm)
			compared.bound(one, "p99 of schedule lag", func(x sample) float64 { return float64(x.Lag) }, lag, timeForm)
		}
		return nil
	})
}

// bound judges the median of one figure.
func (s *section) bound(r runs, what string, of func(sample) float64, bound float64, f form) {
	s.Verdicts = append(s.Verdicts, atMost(s.Title+": "+r.Name+", "+what, each(r.Samples, of), bound, f))
}
