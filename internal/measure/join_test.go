package measure

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/wire"
)

// fleet is several agents with clocks of their own, and one that sees and counts everything.
type fleet struct {
	whole  *Trial
	agents []*Trial
	ahead  []int64 // of each agent's clock
	at     []int   // which agent has a producer
	bound  int64   // of each agent's clock
}

func (f *fleet) axis(i int) clock.Line { return clock.Line{Ns: f.ahead[i], Bound: f.bound} }

// newFleet spreads producers over n agents.
func newFleet(shape Shape, n int, measured int64, rng *rand.Rand) *fleet {
	f := &fleet{whole: NewTrial(shape)}
	for range n {
		f.agents, f.ahead = append(f.agents, NewTrial(shape)), append(f.ahead, rng.Int64N(1e15))
	}
	for range shape.Producers {
		f.at = append(f.at, rng.IntN(n))
	}
	f.whole.MeasureFrom(measured)
	for i, t := range f.agents {
		t.MeasureFrom(measured + f.ahead[i])
		var others []*Host
		for k := range f.agents {
			axis, err := clock.Relative(f.axis(i), f.axis(k))
			if err != nil {
				panic(err)
			}
			h := NewHost(axis)
			h.MeasureFrom(measured + f.ahead[k])
			others = append(others, h)
		}
		for p, k := range f.at {
			base := uint64(100 * p)
			if t.SetBase(p, base); k != i {
				t.SetHost(p, base, others[k])
			}
			f.whole.SetBase(p, base)
		}
	}
	return f
}

// send sends n messages of a producer, one each ns from 1 on; some are not confirmed.
func (f *fleet) send(producer, n int, rng *rand.Rand) {
	unconfirmed := map[int]bool{}
	for seq := range n {
		unconfirmed[seq] = rng.IntN(50) == 0
	}
	i := f.at[producer]
	for _, on := range []struct {
		t     *Trial
		ahead int64
	}{{f.whole, 0}, {f.agents[i], f.ahead[i]}} {
		p := on.t.Producer(producer)
		var acks Acks
		for seq := range n {
			at, number := int64(seq)+1+on.ahead, uint64(100*producer+seq)
			phase := p.Sent(number, size, at, at+1, 0)
			if unconfirmed[seq] {
				p.Failed(&acks, phase, number)
			} else {
				p.Acked(&acks, phase, at, at+1, at+5)
			}
		}
		p.Commit()
		p.Unsent(Measured, int64(n%7), int64(n)+on.ahead, int64(n)+10+on.ahead, 3)
		p.Confirm(&acks)
	}
}

// deliver has a message of a producer come to a consumer of an agent at now.
func (f *fleet) deliver(agent, consumer, sub int, keys KeyOf, producer, seq int, now int64) {
	h := func(ahead int64) wire.Header {
		at := int64(seq) + 1 + ahead
		return wire.Header{ID: wire.MakeID(uint32(producer), uint64(100*producer+seq)), Intended: at, Sent: at + 1, Timed: true}
	}
	for _, on := range []struct {
		c      *Consumer
		h      wire.Header
		nowish int64
	}{
		{f.whole.Consumer(consumer, sub, keys), h(0), now},
		{f.agents[agent].Consumer(consumer, sub, keys), h(f.ahead[f.at[producer]]), now + f.ahead[agent]},
	} {
		on.c.Received(&on.h, on.nowish)
		on.c.Commit()
	}
}

// join sends the agents' shards across and joins them.
func (f *fleet) join(shape Shape) (*Trial, error) {
	var parts []Part
	for i, t := range f.agents {
		text, err := json.Marshal(t.Shard())
		if err != nil {
			return nil, err
		}
		p := Part{Axis: f.axis(i)}
		if err := json.Unmarshal(text, &p.Shard); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return Join(shape, 1<<20, parts)
}

func ledgersOf(t *Trial, ordered bool) []StreamBooks {
	all := t.Streams(true)
	for i := range all {
		if !ordered {
			all[i].Books.Reordered = 0
		}
	}
	return all
}

func booksOf(t *Trial, phase Phase, ordered bool) Books {
	b := t.Books(phase)
	if !ordered {
		b.Reordered = 0
	}
	return b
}

// However producers and consumers are split over agents, and whatever their clocks show, the counts are those of one agent
// that does it all. Order is, where the messages of a stream, or of each of its keys, come to one agent.
func TestAnySplitCountsWhatOneAgentCounts(t *testing.T) {
	rounds := 6
	if testkit.Thorough() {
		rounds = 100
	}
	for _, agents := range []int{1, 2, 4, 8} {
		for _, split := range []string{"streams", "keys", "consumers"} {
			t.Run(fmt.Sprintf("%d agents, split by %s", agents, split), func(t *testing.T) {
				for round := range rounds {
					splitOver(t, agents, split, rand.New(rand.NewPCG(uint64(round), 2)))
				}
			})
		}
	}
}

func splitOver(t *testing.T, agents int, split string, rng *rand.Rand) {
	const subscriptions, keyed, consumers = 2, 16, 16
	shape := Shape{Producers: 1 + rng.IntN(3), Consumers: 1, Subscriptions: subscriptions}
	n := 1 + rng.IntN(400)
	var keys KeyOf
	if split == "keys" {
		shape.Keys, keys = keyed, func(_ int, seq uint64) int { return int(seq % keyed) }
	}
	f := newFleet(shape, agents, rng.Int64N(int64(n)+2), rng)
	for p := range shape.Producers {
		f.send(p, n, rng)
	}
	twiceElsewhere := false // such a message has a latency at each
	for sub := range subscriptions {
		seenBy := map[[2]int]int{}
		for k := range n * shape.Producers { // lost, twice and out of order
			producer, seq := rng.IntN(shape.Producers), min(n-1, max(0, k/shape.Producers+rng.IntN(9)-4))
			consumer := map[string]int{"streams": producer, "keys": seq % keyed, "consumers": rng.IntN(consumers)}[split]
			agent := (consumer + sub) % agents
			before, was := seenBy[[2]int{producer, seq}]
			twiceElsewhere = twiceElsewhere || was && before != agent
			seenBy[[2]int{producer, seq}] = agent
			f.deliver(agent, consumer, sub, keys, producer, seq, int64(n+k)+10)
			if k%100 == 3 {
				f.whole.Consumer(0, sub, nil).Corrupted(int64(k))
				f.agents[agent].Consumer(0, sub, nil).Corrupted(int64(k) + f.ahead[agent])
			}
		}
	}
	joined, err := f.join(shape)
	if err != nil {
		t.Fatal(err)
	}
	ordered := joined.Unordered() == 0
	if !ordered && (split != "consumers" || agents == 1) {
		t.Fatalf("the order of %d ledgers is not known", joined.Unordered())
	}
	for phase := range phases {
		if got, want := booksOf(joined, phase, ordered), booksOf(f.whole, phase, ordered); got != want {
			t.Fatalf("phase %d: joined %+v, one agent %+v", phase, got, want)
		}
		if got, most := joined.Books(phase).Reordered, f.whole.Books(phase).Reordered; got > most {
			t.Fatalf("phase %d: %d reordered, of %d", phase, got, most)
		}
		got, want := joined.Histograms(phase), f.whole.Histograms(phase)
		if twiceElsewhere {
			got.EndToEnd, got.EndToEndService, want.EndToEnd, want.EndToEndService = got.Lag, got.Lag, want.Lag, want.Lag
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("phase %d: the latencies differ: %d and %d", phase, got.EndToEnd.Count(), want.EndToEnd.Count())
		}
	}
	if got, want := ledgersOf(joined, ordered), ledgersOf(f.whole, ordered); !reflect.DeepEqual(got, want) {
		t.Fatalf("joined %+v, one agent %+v", got, want)
	}
	if joined.Count() != f.whole.Count() || joined.Missing() != f.whole.Missing() {
		t.Fatalf("joined %+v, %d missing; one agent %+v, %d missing", joined.Count(), joined.Missing(), f.whole.Count(), f.whole.Missing())
	}
	if joined.Early() != (Early{}) {
		t.Fatalf("%+v of clocks that are known", joined.Early())
	}
}

// A consumer of one agent takes a stream over from a consumer of another one.
func TestOrderAcrossHostsIsClaimedWhereTheirClocksAllowIt(t *testing.T) {
	const n = 100
	for _, c := range []struct {
		name              string
		gap, bound        int64
		again             int // so many messages come again from the second agent, which begins that much earlier
		skip              int // the first agent has skipped so many, which come to the second one
		reordered, unsure int64
	}{
		{"one after the other", 1000, 400, 0, 0, 0, 0},
		{"within the bounds", 1000, 501, 0, 0, 0, 1},
		{"some twice", 1000, 400, 10, 0, 0, 0},
		{"some late", 1000, 400, 0, 5, 5, 1},
		{"some late, within the bounds", 1000, 501, 0, 5, 0, 1},
		{"on one clock", 1, 0, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			shape := Shape{Producers: 1, Consumers: 2, Subscriptions: 1}
			f := newFleet(shape, 2, 0, rng)
			f.bound = c.bound
			f.send(0, n, rng)
			for seq := range n / 2 {
				if seq >= c.skip {
					f.deliver(0, 0, 0, nil, 0, seq, 1000)
				}
			}
			for seq := range c.skip {
				f.deliver(1, 1, 0, nil, 0, seq, 1000+c.gap)
			}
			for seq := n/2 - c.again; seq < n; seq++ {
				f.deliver(1, 1, 0, nil, 0, seq, 1000+c.gap)
			}
			joined, err := f.join(shape)
			if err != nil {
				t.Fatal(err)
			}
			b := joined.Books(Measured)
			if b.Received != n || b.Duplicated != int64(c.again) || b.Reordered != c.reordered || int64(joined.Unordered()) != c.unsure {
				t.Errorf("%+v, the order of %d ledgers isn't known; want %d reordered and %d", b, joined.Unordered(), c.reordered, c.unsure)
			}
		})
	}
}

func TestWhatNobodySentIsCorrupted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shape := Shape{Producers: 2, Consumers: 2, Subscriptions: 1}
	f := newFleet(shape, 2, 0, rng)
	f.at = []int{0, 0}
	f.send(0, 100, rng)
	stranger := f.agents[1].Consumer(0, 0, nil)
	f.agents[1].SetHost(0, 0, NewHost(clock.Line{}))
	f.agents[1].SetHost(1, 0, NewHost(clock.Line{}))
	for _, seq := range []uint64{5, 100, 127, 128, 1000, 1 << 21} {
		stranger.Received(&wire.Header{ID: wire.MakeID(0, seq), Timed: true}, 1)
	}
	stranger.Received(&wire.Header{ID: wire.MakeID(1, 7), Timed: true}, 1) // of a producer that sent nothing
	stranger.Commit()
	joined, err := f.join(shape)
	if err != nil {
		t.Fatal(err)
	}
	b := joined.Books(Measured)
	b.Add(joined.Books(Warmup))
	if b.Received != 1 || b.Corrupted != 6 || b.Lost != 99 || joined.Count().Received != 1 {
		t.Errorf("%+v, %+v", b, joined.Count())
	}
}

// To an agent that can't know what was sent, a number that was never sent makes all lower ones late.
func TestOrderBehindANumberThatNobodySentIsNotKnown(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shape := Shape{Producers: 1, Consumers: 1, Subscriptions: 1}
	f := newFleet(shape, 2, 0, rng)
	f.at = []int{0}
	f.send(0, 10, rng)
	f.agents[1].SetHost(0, 0, NewHost(clock.Line{}))
	consumer := f.agents[1].Consumer(0, 0, nil)
	for _, seq := range []uint64{0, 1, 1000, 2, 3} {
		consumer.Received(&wire.Header{ID: wire.MakeID(0, seq), Timed: true}, 1)
	}
	consumer.Commit()
	joined, err := f.join(shape)
	if err != nil {
		t.Fatal(err)
	}
	if b := joined.Books(Measured); joined.Unordered() != 1 || b.Corrupted+joined.Books(Warmup).Corrupted != 1 || b.Reordered+joined.Books(Warmup).Reordered != 0 {
		t.Errorf("%+v, the order of %d ledgers isn't known; want 1, and no message reordered for certain", b, joined.Unordered())
	}
}

func TestAMessageThatComesBeforeItWasSentIsCountedAndSeen(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Consumers: 1, Subscriptions: 1})
	host := NewHost(clock.Line{Ns: 1000}) // in truth it is 1,030 ahead
	host.MeasureFrom(0)
	trial.SetHost(0, 0, host)
	c := trial.Consumer(0, 0, nil)
	for seq, way := range []int64{50, 20, 40, 5} {
		sent := int64(100 * seq)
		c.Received(&wire.Header{ID: wire.MakeID(0, uint64(seq)), Intended: sent + 1030, Sent: sent + 1030, Timed: true}, sent+way)
	}
	c.Commit()
	got := trial.Early()
	if want := (Early{Deliveries: 2, By: 25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !got.Possible(25) || got.Possible(24) || !(Early{}).Possible(0) {
		t.Error("a bound holds as long as nothing came earlier than it allows")
	}
	if h := trial.Histograms(Measured).EndToEnd; h.Count() != 4 || h.Min() != 0 || h.Max() != 20 {
		t.Errorf("%d latencies from %d to %d", h.Count(), h.Min(), h.Max())
	}
	joined, err := Join(Shape{Producers: 1, Subscriptions: 1}, 10, []Part{{Shard: trial.Shard()}, {Shard: Shard{Version: ShardVersion, Early: Early{1, 30}}}})
	if err != nil || joined.Early() != (Early{Deliveries: 3, By: 30}) {
		t.Errorf("%+v, %v", joined.Early(), err)
	}
}

// One agent had a schedule, the other one sent as fast as it could: what that one sent, or should have sent, was due.
func TestWhatWasDueIsTheSumOverAgentsWithAndWithoutASchedule(t *testing.T) {
	shape := Shape{Producers: 2, Subscriptions: 1}
	scheduled := Shard{Version: ShardVersion, Due: &Tally{3, 10}, Counts: Totals{Sent: Tally{3, 8}, Unsent: Tally{0, 2}}}
	free := Shard{Version: ShardVersion, Counts: Totals{Sent: Tally{1, 5}, Unsent: Tally{0, 7}}}
	for name, parts := range map[string][]Part{
		"scheduled first": {{Shard: scheduled}, {Shard: free}}, "scheduled last": {{Shard: free}, {Shard: scheduled}},
	} {
		joined, err := Join(shape, 100, parts)
		if err != nil {
			t.Fatal(err)
		}
		if warm, measured := joined.Books(Warmup).Due, joined.Books(Measured).Due; warm != 4 || measured != 22 {
			t.Errorf("%s: %d and %d were due, want 4 and 22", name, warm, measured)
		}
	}
}

// Times on the clock of the process that joins may be negative, if that process started later.
func TestOrderIsKnownAlsoBeforeTheClocksZero(t *testing.T) {
	whole := func(from, to uint64, first, last int64) Shard {
		trial := NewTrial(Shape{Producers: 1, Subscriptions: 1})
		trial.SetHost(0, 0, NewHost(clock.Line{}))
		c := trial.Consumer(0, 0, nil)
		for n := from; n < to; n++ {
			c.Received(&wire.Header{ID: wire.MakeID(0, n), Timed: true}, []int64{first, last}[min(1, n-from)])
		}
		c.Commit()
		return trial.Shard()
	}
	sender := Shard{Version: ShardVersion, Sent: []Sent{{End: 100}}, Counts: Totals{Sent: Tally{0, 100}}}
	late := clock.Line{Ns: 1_000_000} // their time 1,000 is -999,000 here
	joined, err := Join(Shape{Producers: 1, Subscriptions: 1}, 100, []Part{
		{Shard: sender}, {Shard: whole(0, 50, 1000, 2000), Axis: late}, {Shard: whole(50, 100, 3000, 4000), Axis: late},
	})
	if err != nil || joined.Unordered() != 0 {
		t.Errorf("the order of %d ledgers isn't known, %v; the second agent's messages came after all of the first", joined.Unordered(), err)
	}
}

// Consumers of one subscription commit in another order than they received.
func TestTheFirstMessageOfALedgerIsTheEarliestNotTheFirstCommitted(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Consumers: 2, Subscriptions: 1})
	send(trial, 10, 0, nil)
	early, late := trial.Consumer(0, 0, nil), trial.Consumer(1, 0, nil)
	early.Received(header(0, 0), -30)
	late.Received(header(0, 1), -20)
	late.Received(header(0, 2), -10)
	late.Commit()
	early.Commit()
	if a := trial.Shard().Seen[0]; a.First != -30 || a.Last != -10 {
		t.Errorf("the messages came from %d to %d, want -30 to -10", a.First, a.Last)
	}
}

// An agent that doesn't say which keys it received may have received any of them.
func TestOrderByKeyIsNotKnownIfAnAgentNamesNoKeys(t *testing.T) {
	sender := Shard{Version: ShardVersion, Sent: []Sent{{End: 64}}}
	part := func(seen, keys byte) Part {
		a := Account{Seen: []byte{1<<2 | mixedRun, seen, 0, 0, 0, 0, 0, 0, 0}, First: 1, Last: 9}
		if keys != 0 {
			a.Keys = []byte{1<<2 | mixedRun, keys, 0, 0, 0, 0, 0, 0, 0}
		}
		return Part{Shard: Shard{Version: ShardVersion, Seen: []Account{a}}}
	}
	for _, c := range []struct {
		name                 string
		firstKeys, otherKeys byte
		unordered            int
	}{
		{"keys of their own", 1, 2, 0}, {"a key in common", 3, 2, 1}, {"the first names none", 0, 2, 1}, {"the second names none", 1, 0, 1},
	} {
		joined, err := Join(Shape{Producers: 1, Subscriptions: 1, Keys: 2}, 64, []Part{{Shard: sender}, part(0x55, c.firstKeys), part(0xaa, c.otherKeys)})
		if err != nil || joined.Unordered() != c.unordered {
			t.Errorf("%s: the order of %d ledgers isn't known, %v; want %d", c.name, joined.Unordered(), err, c.unordered)
		}
	}
}

// A message takes no memory for having come from elsewhere.
func TestMessagesOfOtherHostsAllocateNothing(t *testing.T) {
	trial := NewTrial(Shape{Producers: 1, Consumers: 1, Subscriptions: 1})
	trial.SetHost(0, 0, NewHost(clock.Line{Ns: 1000, Drift: 1e-6, From: 5}))
	c := trial.Consumer(0, 0, nil)
	seq := uint64(0)
	if got := testing.AllocsPerRun(20_000, func() {
		c.Received(&wire.Header{ID: wire.MakeID(0, seq), Intended: 1, Sent: 2, Timed: true}, 5)
		c.Commit()
		seq++
	}); got > 0.001 {
		t.Errorf("%g allocations per message", got)
	}
}

func TestAShardThatCannotBeIsRefused(t *testing.T) {
	sent := func(s Sent) Shard { return Shard{Version: ShardVersion, Sent: []Sent{s}} }
	seen := func(a ...Account) Shard { return Shard{Version: ShardVersion, Seen: a} }
	for want, s := range map[string]Shard{
		"agent 1: it has version 3":                 {Version: 3},
		"it has version 0":                          {},
		"producer 3 is not one of the trial's 3":    sent(Sent{Producer: 3, End: 1}),
		"producer -1 is not":                        sent(Sent{Producer: -1, End: 1}),
		"sent for another agent":                    sent(Sent{Producer: 0, End: 5}),
		"1 to 1000 messages":                        sent(Sent{Producer: 1, End: 1001}),
		"sent 0 messages":                           sent(Sent{Producer: 1}),
		"begins with number 7":                      sent(Sent{Producer: 1, End: 6, Measured: 7}),
		"unconfirmed messages of":                   sent(Sent{Producer: 1, End: 6, Unconfirmed: []byte{9<<2 | fullRun}}),
		"counts below 0":                            {Version: ShardVersion, Counts: Totals{Stale: Tally{0, -1}}},
		"due below 0":                               {Version: ShardVersion, Due: &Tally{-1, 5}},
		"early deliveries below 0":                  {Version: ShardVersion, Early: Early{Deliveries: -1}},
		"early by less than 0 ns":                   {Version: ShardVersion, Early: Early{By: -1}},
		"counts from number 4398046511104 on":       sent(Sent{Producer: 1, Base: wire.MaxSeq + 1, End: 1}),
		"counts from number 4398046511103 on":       sent(Sent{Producer: 1, Base: wire.MaxSeq, End: 2}),
		"producer 1 is listed twice":                {Version: ShardVersion, Sent: []Sent{{Producer: 1, End: 1}, {Producer: 1, End: 2}}},
		"its producers sent 1300 messages":          {Version: ShardVersion, Sent: []Sent{{Producer: 1, End: 800}, {Producer: 2, End: 500}}},
		"duplicated messages below 0":               seen(Account{Duplicated: Tally{0, -1}}),
		"reordered messages below 0":                seen(Account{Reordered: Tally{-1, 0}}),
		"last message that came before its first":   seen(Account{First: 2, Last: 1}),
		"subscription 1; the":                       seen(Account{Subscription: 1}),
		"producer 3 and":                            seen(Account{Producer: 3}),
		"two accounts":                              seen(Account{}, Account{}),
		"cut short":                                 seen(Account{Seen: []byte{1<<2 | mixedRun, 1}}),
		"never sent":                                seen(Account{Seen: []byte{0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}}),
		"keys that the trial does not have":         seen(Account{Keys: []byte{1<<2 | mixedRun, 1, 0, 0, 0, 0, 0, 0, 0}}),
		"keys that the trial does not have at all":  seen(Account{Keys: []byte{1<<2 | fullRun}}),
		"producer 0 and subscription 0: its packed": seen(Account{Keys: []byte{0xff}}),
	} {
		shape := Shape{Producers: 3, Subscriptions: 1}
		_, err := Join(shape, 1000, []Part{{Shard: sent(Sent{Producer: 0, End: 5, Measured: 1})}, {Shard: s}})
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, " at all")) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}

func FuzzJoin(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	shape := Shape{Producers: 2, Consumers: 2, Subscriptions: 2, Keys: 70}
	keys := func(_ int, seq uint64) int { return int(seq % 70) }
	flt := newFleet(shape, 2, 50, rng)
	for p := range shape.Producers {
		flt.send(p, 200, rng)
		for seq := range 150 {
			flt.deliver(seq%2, seq%2, seq/75, keys, p, seq, 1000)
		}
	}
	one, err := json.Marshal(flt.agents[0].Shard())
	if err != nil {
		f.Fatal(err)
	}
	two, err := json.Marshal(flt.agents[1].Shard())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one, two)
	f.Add(one, one)
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var parts [2]Part
		if json.Unmarshal(one, &parts[0].Shard) != nil || json.Unmarshal(two, &parts[1].Shard) != nil {
			return
		}
		trial, err := Join(shape, 1<<16, parts[:])
		if err != nil {
			return
		}
		for phase := range phases {
			if b := trial.Books(phase); b.Received+b.Lost != b.Expected || b.Received < 0 || b.Lost < 0 {
				t.Errorf("%+v", b)
			}
		}
		_, _, _ = trial.Streams(true), trial.Missing(), trial.Unordered()
	})
}

// minute is how many messages a million a second are in a minute; under the race detector a tenth of that.
func minute() uint64 {
	if testing.Short() {
		return 6_000_000
	}
	return 60_000_000
}

// minuteOf is what two agents saw of these: one sent them all, and each received some of them.
func minuteOf(tb testing.TB, share func(word uint64) (one, two uint64)) (parts [2][]byte) {
	tb.Helper()
	messages := minute()
	shape := Shape{Producers: 1, Consumers: 1, Subscriptions: 1}
	sender, other := NewTrial(shape), NewTrial(shape)
	sender.streams[0].end.Store(messages)
	sender.streams[0].measured.Store(messages / 60)
	for word := uint64(0); word < messages/64; word++ {
		one, two := share(word)
		if one != 0 {
			sender.streams[0].ledgers[0].seen.addWord(word<<6, one)
		}
		if two != 0 {
			other.streams[0].ledgers[0].seen.addWord(word<<6, two)
		}
	}
	for i, t := range []*Trial{sender, other} {
		t.streams[0].ledgers[0].first.Store(1)
		t.streams[0].ledgers[0].last.Store(2)
		var err error
		if parts[i], err = json.Marshal(t.Shard()); err != nil {
			tb.Fatal(err)
		}
	}
	return parts
}

// halves are two agents that receive messages in turns, at random.
func halves() func(uint64) (uint64, uint64) {
	rng := rand.New(rand.NewPCG(7, 8))
	return func(uint64) (uint64, uint64) {
		w := rng.Uint64()
		return w, ^w
	}
}

func joinTexts(tb testing.TB, texts [2][]byte) *Trial {
	tb.Helper()
	var parts [2]Part
	for i, text := range texts {
		if err := json.Unmarshal(text, &parts[i].Shard); err != nil {
			tb.Fatal(err)
		}
	}
	trial, err := Join(Shape{Producers: 1, Subscriptions: 1}, 1<<40, parts[:])
	if err != nil {
		tb.Fatal(err)
	}
	return trial
}

func TestAMinuteOfAMillionMessagesASecondJoinsInLittleMemory(t *testing.T) {
	for name, c := range map[string]struct {
		share func(uint64) (uint64, uint64)
		most  int // bytes of both shards
	}{
		"one sends, the other receives": {func(uint64) (uint64, uint64) { return 0, ^uint64(0) }, 10 << 10},
		"both receive half, at random":  {halves(), 25 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			texts := minuteOf(t, c.share)
			if n := len(texts[0]) + len(texts[1]); n > c.most {
				t.Errorf("the shards take %d bytes; at most %d are wanted", n, c.most)
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := time.Now()
			trial := joinTexts(t, texts)
			took := time.Since(began)
			b := trial.Books(Measured)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes, %d MiB allocated, %s", len(texts[0])+len(texts[1]), allocated>>20, took)
			if b.Received != int64(minute()-minute()/60) || b.Lost != 0 || b.Duplicated != 0 {
				t.Errorf("%+v", b)
			}
			if allocated > 100_000_000 {
				t.Errorf("joining allocated %d bytes", allocated)
			}
			if testkit.Thorough() && took > 2*time.Second {
				t.Errorf("joining took %s", took)
			}
		})
	}
}

func BenchmarkJoin(b *testing.B) {
	texts := minuteOf(b, halves())
	for b.Loop() {
		joinTexts(b, texts)
	}
}
