package all_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// changed gives some settings another value: the bounds, the words there are, and values on both sides of them.
func changed(kind driver.Kind, rnd *rand.Rand) (client, topic driver.Values) {
	client, _ = driver.Decode(kind.Settings, driver.ClientScope, nil)
	topic, _ = driver.Decode(kind.Settings, driver.TopicScope, nil)
	for range 1 + rnd.IntN(3) {
		s := kind.Settings[rnd.IntN(len(kind.Settings))]
		values := client
		if s.Scope == driver.TopicScope {
			values = topic
		}
		switch def := s.Default.(type) {
		case int64:
			list := []any{def + 1, int64(0), int64(1), int64(5), int64(1 << 17), int64(1 << 31)}
			values[s.Name] = list[rnd.IntN(len(list))]
		case bool:
			values[s.Name] = !def
		case time.Duration:
			list := []any{time.Duration(0), time.Nanosecond, 1500 * time.Millisecond, time.Hour, 2 * def}
			values[s.Name] = list[rnd.IntN(len(list))]
		case string:
			if len(s.Allowed) > 0 {
				values[s.Name] = s.Allowed[rnd.IntN(len(s.Allowed))]
			} else if s.Scope == driver.TopicScope {
				values[s.Name] = fmt.Sprint(rnd.IntN(3))
			}
		}
	}
	return client, topic
}

// Open refuses nothing that check has let pass. Whether Setup, a producer and a consumer do, the conformance suite of each
// driver asks on a running broker.
func TestWhatFitsIsNotRefusedByOpen(t *testing.T) {
	for _, name := range driver.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, err := driver.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(12, 22))
			matrix := kind.Matrix()
			fit, refused := 0, 0
			for range 2000 {
				c := driver.Config{Guarantee: matrix[rnd.IntN(len(matrix))].Guarantee}
				c.Client, c.Topic = changed(kind, rnd)
				c.Target = driver.Target{Addresses: []string{"127.0.0.1:1"}}
				if kind.Supports(c.Guarantee) != nil {
					continue
				}
				s := driver.Shape{Topics: 1, Partitions: 1, Subscriptions: 1, Producers: 1, Consumers: 1, MaxBytes: 8, InFlight: 1}
				before := kind.Refusal(c, s)
				if before != nil {
					refused++
				} else {
					fit++
				}
				if refused > 200 && before != nil || fit > 25 && before == nil {
					continue // a dead address takes its time
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				d, err := kind.Open(ctx, c)
				var refusal *driver.ErrUnsupported
				if err == nil {
					_ = d.Close()
				}
				if before == nil && errors.As(err, &refusal) {
					t.Errorf("%+v, client %v, topic %v: accepted, and then: %v", c.Guarantee, c.Client, c.Topic, err)
				}
			}
			if fit == 0 {
				t.Error("nothing fits")
			}
		})
	}
}
