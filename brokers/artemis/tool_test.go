package artemis

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
)

// toolPoint is a thousand messages per second for six seconds.
func toolPoint(edit func(*maker.Point)) maker.Point {
	p := maker.Point{
		Addresses: []string{"127.0.0.1:61616"}, Topic: "t", Subscriptions: []string{"s0"}, Partitions: 1, Producers: 2, Consumers: 3,
		Rate: 1000, For: 6 * time.Second, Size: 100, InFlight: 30,
		Guarantee: driver.Guarantee{Delivery: driver.AtLeastOnce, Persistence: driver.Log},
	}
	if edit != nil {
		edit(&p)
	}
	return p
}

func TestAPointBecomesTheCommandLineOfArtemisPerf(t *testing.T) {
	for want, edit := range map[string]func(*maker.Point){
		"perf client --consumers 3 --verbose --protocol AMQP --url amqp://127.0.0.1:61616?jms.presettlePolicy.presettleAll=false --producers 2": nil,
		"--message-size 100 --duration 6 --persistent --max-pending 30 --rate 1000 queue://t":                                                   nil,
		"perf producer --verbose":              func(p *maker.Point) { p.Subscriptions = nil },
		"--duration 6 --max-pending 30 queue:": func(p *maker.Point) { p.Rate, p.Guarantee.Persistence = 0, driver.Memory },
		"presettleAll=true --producers 2 --message-size 100 --duration 6 --rate 1000": func(p *maker.Point) {
			p.Guarantee = driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory}
		},
		"&jms.prefetchPolicy.all=7": func(p *maker.Point) { p.Client = map[string]any{"Credit": 7} },
	} {
		args, err := artemisPerfArguments(toolPoint(edit))
		if got := strings.Join(args, " "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	settled := func(p *maker.Point) { p.Guarantee.Delivery = driver.AtMostOnce }
	for want, edit := range map[string]func(*maker.Point){
		"delivery: exactly-once":              func(p *maker.Point) { p.Guarantee.Delivery = driver.ExactlyOnce },
		"measure: count":                      func(p *maker.Point) { p.Messages, p.For = 9, 0 },
		"measure: peak":                       func(p *maker.Point) { settled(p); p.Rate = 0 },
		"inFlight.messages: 30":               func(p *maker.Point) { settled(p); p.Windowed = true },
		"subscriptionsPerTopic: 2":            func(p *maker.Point) { p.Subscriptions = []string{"a", "b"} },
		"topicConfig.routing-type: multicast": func(p *maker.Point) { p.Kept = map[string]any{"routing-type": "multicast"} },
		"partitionsPerTopic: 2":               func(p *maker.Point) { p.Partitions = 2 },
		"client.write.buffer is not":          func(p *maker.Point) { p.Client = map[string]any{"write.buffer": 0} },
		"duration: 1.5s":                      func(p *maker.Point) { p.For = 1500 * time.Millisecond },
		"load.rate: 5":                        func(p *maker.Point) { p.Rate = 5 },
	} {
		if _, err := artemisPerfArguments(toolPoint(edit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestTheSummaryOfArtemisPerfIsRead(t *testing.T) {
	const interval = `--- warmup false 
--- sent:           497 msg/sec 
--- blocked:          0 msg/sec 
--- completed:      500 msg/sec 
--- received:       500 msg/sec
`
	const summary = `
--- SUMMARY
--- result:              success
--- total sent:             3044
--- total blocked:             0
--- total completed:        3044
--- total received:         3042 
--- aggregated delay send time: mean:  23453.15 us - 50.00%:   1783.00 us - 90.00%:  91135.00 us - 99.00%: 220159.00 us - 99.90%: 240639.00 us - 99.99%: 242687.00 us - max:    242687.00 us 
--- aggregated send time:       mean: 225128.13 us - 50.00%:  56319.00 us - 90.00%: 753663.00 us - 99.00%: 851967.00 us - 99.90%: 880639.00 us - 99.99%: 888831.00 us - max:    888831.00 us 
--- aggregated transfer time:   mean: 340805.72 us - 50.00%: 204799.00 us - 90.00%: 811007.00 us - 99.00%: 880639.00 us - 99.90%: 892927.00 us - 99.99%: 897023.00 us - max:    897023.00 us`
	read := func(text string) (maker.Figures, error) {
		return artemisPerf().Figures(toolPoint(nil), strings.Split(text, "\n"))
	}
	f, err := read(interval + summary)
	if err != nil || f.Sent != 3044 || f.SendRate != 3044.0/6 || f.ReceiveRate != 507 || f.Publish["mean"] != 225128130 || f.Publish["p99"] != 851967e3 || f.EndToEnd["p999"] != 892927e3 {
		t.Errorf("%+v, %v", f, err)
	}
	for _, text := range []string{interval, strings.Replace(interval+summary, "success", "fail", 1), strings.Replace(summary, "us - 50.00%", "ms - 50.00%", 3)} {
		if f, err := read(text); err == nil {
			t.Errorf("%+v of a run that was broken off", f)
		}
	}
}
