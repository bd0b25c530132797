package natscore

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/maker"
)

func TestAPointBecomesTheCommandLineOfNatsBench(t *testing.T) {
	point := func(edit func(*maker.Point)) maker.Point {
		p := maker.Point{Addresses: []string{"a:1", "b:2"}, Topic: "t", Subscriptions: []string{"a", "b"}, Producers: 3, Consumers: 1, Messages: 9, Size: 100}
		edit(&p)
		return p
	}
	args, err := natsBenchArguments(point(func(*maker.Point) {}))
	if got := strings.Join(args, " "); err != nil || got != "-s nats://a:1,nats://b:2 -np 3 -ns 2 -n 9 -ms 100 t" {
		t.Errorf("%s, %v", got, err)
	}
	for want, edit := range map[string]func(*maker.Point){
		"measure is not":             func(p *maker.Point) { p.Messages = 0 },
		"load.rate: 100":             func(p *maker.Point) { p.Rate = 100 },
		"consumerPerSubscription: 2": func(p *maker.Point) { p.Consumers = 2 },
		"inFlight.messages: 0":       func(p *maker.Point) { p.Windowed = true },
		"client.x is not":            func(p *maker.Point) { p.Client = map[string]any{"x": 0} },
	} {
		if _, err := natsBenchArguments(point(edit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestTheRatesOfNatsBenchAreRead(t *testing.T) {
	read := func(text string) (maker.Figures, error) {
		return natsBench().Figures(maker.Point{Subscriptions: []string{"a"}}, strings.Split(text, "\n"))
	}
	f, err := read(`Starting benchmark [msgs=300000, msgsize=100, pubs=2, subs=1]
NATS Pub/Sub stats: 1,580,000 msgs/sec ~ 150 MB/sec
 Pub stats: 800,123 msgs/sec ~ 76 MB/sec
  [1] 400,061 msgs/sec ~ 38 MB/sec (150000 msgs)
  [2] 400,062 msgs/sec ~ 38 MB/sec (150000 msgs)
  min 400,061 | avg 400,061 | max 400,062 | stddev 0 msgs
 Sub stats: 790,000 msgs/sec ~ 75 MB/sec`)
	if err != nil || f.SendRate != 800123 || f.ReceiveRate != 790000 {
		t.Errorf("%+v, %v", f, err)
	}
	for _, text := range []string{"Can't connect: no servers", "Pub stats: 800,123 msgs/sec ~ 76 MB/sec", "Pub stats: 0 msgs/sec\n Sub stats: 0 msgs/sec"} {
		if f, err := read(text); err == nil {
			t.Errorf("%+v of %s", f, text)
		}
	}
}
