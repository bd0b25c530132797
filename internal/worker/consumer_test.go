package worker

import (
	"testing"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
)

func TestWhatIsCutIsCorruptAndWhatAnEarlierRunLeftIsNot(t *testing.T) {
	const run, earlier = 2, 1
	payload := func(of uint16, size int) []byte {
		b := make([]byte, size)
		stamp, body := wire.Split(b)
		wire.Stamp(stamp, wire.MakeID(0, 0), clock.Now(), clock.Now(), wire.Prepare(stamp, body, of))
		return b
	}
	for name, c := range map[string]struct {
		payload []byte
		corrupt int64
	}{
		"a short one of an earlier run":       {payload(earlier, 64), 0},
		"one of this run that was cut":        {payload(run, 200)[:100], 1},
		"one of this run, cut to its ID":      {payload(run, 200)[:wire.IDSize], 1},
		"one of this run, a whole short one":  {payload(run, 64), 1},
		"one of an earlier run that was cut":  {payload(earlier, 300)[:250], 1},
		"an earlier run's of the same length": {payload(earlier, 200), 0},
	} {
		trial := measure.NewTrial(measure.Shape{Producers: 1, Consumers: 1, Subscriptions: 1})
		consumer := &consumer{run: run, shortest: 200}
		consumer.bookWith(trial.Consumer(0, 0, nil))
		if consumer.book([]driver.Received{{Payload: c.payload}}) {
			t.Errorf("%s was counted", name)
		}
		if got := trial.Books(measure.Warmup).Corrupted + trial.Books(measure.Measured).Corrupted; got != c.corrupt {
			t.Errorf("%s: %d corrupt, want %d", name, got, c.corrupt)
		}
	}
}

func TestInATopicOfOthersTheirMessagesAreNeitherCountedNorCorrupt(t *testing.T) {
	const run, earlier = 2, 1
	payload := func(of uint16, size int) []byte {
		b := make([]byte, size)
		stamp, body := wire.Split(b)
		wire.Stamp(stamp, wire.MakeID(0, 0), clock.Now(), clock.Now(), wire.Prepare(stamp, body, of))
		return b
	}
	damaged := func(of uint16) []byte {
		b := payload(of, 200)
		b[100]++
		return b
	}
	for name, c := range map[string]struct {
		payload         []byte
		corrupt, others int64
	}{
		"text":                             {[]byte("an order of somebody"), 0, 1},
		"long text":                        {make([]byte, 5000), 0, 1},
		"nothing":                          {nil, 0, 1},
		"an earlier run's":                 {payload(earlier, 200), 0, 1},
		"an earlier run's that is damaged": {damaged(earlier), 0, 1},
		"this run's that is damaged":       {damaged(run), 1, 0},
	} {
		trial := measure.NewTrial(measure.Shape{Producers: 1, Consumers: 1, Subscriptions: 1})
		consumer := &consumer{run: run, shortest: 200, found: true}
		consumer.bookWith(trial.Consumer(0, 0, nil))
		if consumer.book([]driver.Received{{Payload: c.payload}}) {
			t.Errorf("%s was counted", name)
		}
		if got := trial.Books(measure.Warmup).Corrupted + trial.Books(measure.Measured).Corrupted; got != c.corrupt || consumer.others != c.others {
			t.Errorf("%s: %d corrupt and %d of others, want %d and %d", name, got, consumer.others, c.corrupt, c.others)
		}
	}
}
