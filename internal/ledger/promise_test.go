package ledger_test

import (
	"reflect"
	"testing"

	"github.com/brokermark/brokermark/internal/ledger"
)

func TestAGuaranteeIsJudgedAsTheGuaranteesPageSays(t *testing.T) {
	kill, restart, pause := []string{"kill"}, []string{"restart"}, []string{"pause"}
	asked := func(delivery, persistence string) ledger.Guarantee {
		return ledger.Guarantee{Delivery: delivery, Persistence: persistence, Ordering: "ordered"}
	}
	unordered := asked("at-least-once", "log")
	unordered.Ordering = "unordered"
	leader := func(persistence string, replicas int, failover bool) ledger.Guarantee {
		g := asked("at-least-once", persistence)
		g.Acks, g.Replicas, g.Failover = "leader", replicas, failover
		return g
	}
	quorum := leader("log", 3, true)
	quorum.Acks = "quorum"
	lost, twice := ledger.Books{LostAcked: 3, Lost: 3}, ledger.Books{Duplicated: 2}
	for name, c := range map[string]struct {
		guarantee ledger.Guarantee
		faults    []string
		books     ledger.Books
		want      ledger.Promise
	}{
		"nothing wrong":                                {asked("exactly-once", "fsync"), kill, ledger.Books{Sent: 9}, ledger.Kept},
		"lost, at most once":                           {asked("at-most-once", "log"), nil, lost, ledger.Kept},
		"delivered twice, at most once":                {asked("at-most-once", "log"), nil, twice, ledger.Broken},
		"lost, at least once":                          {asked("at-least-once", "log"), kill, lost, ledger.Broken},
		"lost before it was confirmed":                 {asked("at-least-once", "log"), kill, ledger.Books{Lost: 3, Failed: 3}, ledger.Kept},
		"delivered twice, at least once":               {asked("at-least-once", "log"), kill, twice, ledger.Kept},
		"lost, exactly once":                           {asked("exactly-once", "log"), nil, lost, ledger.Broken},
		"delivered twice, exactly once":                {asked("exactly-once", "log"), nil, twice, ledger.Broken},
		"out of order":                                 {asked("at-least-once", "log"), nil, ledger.Books{Reordered: 1}, ledger.Broken},
		"out of order, unordered":                      {unordered, nil, ledger.Books{Reordered: 1}, ledger.Kept},
		"corrupted, at most once":                      {asked("at-most-once", "memory"), kill, ledger.Books{Corrupted: 1}, ledger.Broken},
		"lost from memory while the broker lived":      {asked("at-least-once", "memory"), nil, lost, ledger.Broken},
		"lost from memory while the broker was paused": {asked("at-least-once", "memory"), pause, lost, ledger.Broken},
		"lost from memory through a kill":              {asked("at-least-once", "memory"), kill, lost, ledger.NoneMade},
		"lost from memory through a graceful restart":  {asked("at-least-once", "memory"), restart, lost, ledger.NoneMade},
		"nothing lost from memory through a restart":   {asked("at-least-once", "memory"), restart, ledger.Books{}, ledger.NoneMade},
		"delivered twice from memory through a kill":   {asked("exactly-once", "memory"), kill, twice, ledger.Broken},
		"lost what the leader alone had":               {leader("fsync", 3, true), kill, lost, ledger.NoneMade},
		"lost when the leader stood still":             {leader("log", 3, true), pause, lost, ledger.NoneMade},
		"nothing lost that the leader alone had":       {leader("log", 3, true), kill, ledger.Books{}, ledger.NoneMade},
		"lost while the leader led":                    {leader("log", 3, true), nil, lost, ledger.Broken},
		"lost, and the leader came back":               {leader("log", 3, false), kill, lost, ledger.Broken},
		"lost by the only copy":                        {leader("log", 1, true), kill, lost, ledger.Broken},
		"lost although a quorum had it":                {quorum, kill, lost, ledger.Broken},
		"out of order after a failover":                {leader("log", 3, true), kill, ledger.Books{LostAcked: 3, Lost: 3, Reordered: 1}, ledger.Broken},
		"at most once from memory through a restart":   {asked("at-most-once", "memory"), restart, lost, ledger.Kept},
	} {
		if got := ledger.Keeps(c.guarantee, c.faults, c.books); got.Promise != c.want || (got.Breaches != nil) != (c.want == ledger.Broken) {
			t.Errorf("%s: %+v, want promise %d", name, got, c.want)
		}
	}
}

func TestAVerdictCountsWhatWasRuledOutAndWhatWasAllowed(t *testing.T) {
	got := ledger.Keeps(ledger.Guarantee{Delivery: "at-least-once", Persistence: "log", Ordering: "ordered"}, nil,
		ledger.Books{LostAcked: 4, Lost: 9, Duplicated: 2, Reordered: 1, Corrupted: 5})
	want := ledger.Verdict{
		Promise:  ledger.Broken,
		Breaches: []ledger.Count{{ledger.Corrupted, 5}, {ledger.Lost, 4}, {ledger.Reordered, 1}},
		Allowed:  []ledger.Count{{ledger.Duplicated, 2}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// At most once, a message may be lost for any reason: the verdict counts all of them together.
func TestLossesThatAreAllowedAreCountedTogether(t *testing.T) {
	got := ledger.Keeps(ledger.Guarantee{Delivery: "at-most-once"}, nil, ledger.Books{Lost: 5, LostAcked: 5, MayDrop: 3})
	if want := (ledger.Verdict{Allowed: []ledger.Count{{ledger.Lost, 5}}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBooksBalance(t *testing.T) {
	good := ledger.Books{Due: 12, Unsent: 2, Sent: 10, Acked: 7, Failed: 2, Unresolved: 1, Expected: 20, Received: 15, Lost: 5}
	if !good.Balanced() {
		t.Errorf("%+v must balance", good)
	}
	for _, field := range []string{"Due", "Unsent", "Sent", "Acked", "Failed", "Unresolved", "Expected", "Received", "Lost"} {
		bad := good
		v := reflect.ValueOf(&bad).Elem().FieldByName(field)
		v.SetInt(v.Int() + 1)
		if bad.Balanced() {
			t.Errorf("one %s more still balances", field)
		}
	}
}

// Each field of the one is a power of two below all fields of the other: no two sums can be taken for each other.
func TestMergedBooksHaveEveryCountOfBoth(t *testing.T) {
	fields := reflect.TypeFor[ledger.Books]().NumField()
	var a, b ledger.Books
	for i := range fields {
		reflect.ValueOf(&a).Elem().Field(i).SetInt(int64(1) << i)
		reflect.ValueOf(&b).Elem().Field(i).SetInt(int64(1) << (30 + i))
	}
	sum := a
	sum.Add(b)
	for i := range fields {
		if got, want := reflect.ValueOf(sum).Field(i).Int(), int64(1)<<i+int64(1)<<(30+i); got != want {
			t.Errorf("%s: %d, want %d", reflect.TypeFor[ledger.Books]().Field(i).Name, got, want)
		}
	}
}

func TestOnlyWhatNoLimitMayHaveDroppedIsABrokenPromise(t *testing.T) {
	asked := ledger.Guarantee{Delivery: "at-least-once", Persistence: "log"}
	for _, c := range []struct{ lost, mayDrop, broken int64 }{{0, 0, 0}, {5, 0, 5}, {5, 4, 1}, {5, 5, 0}, {5, 9, 0}, {0, 3, 0}} {
		books := ledger.Books{Lost: c.lost, LostAcked: c.lost, MayDrop: c.mayDrop}
		if got := books.WronglyLost(); got != c.broken {
			t.Errorf("%+v: %d broken, want %d", books, got, c.broken)
		}
		want := ledger.Kept
		if c.broken > 0 {
			want = ledger.Broken
		}
		if v := ledger.Keeps(asked, nil, books); v.Promise != want || c.broken > 0 && v.Breaches[0].Messages != c.broken {
			t.Errorf("%+v: %+v", books, v)
		}
	}
}

func TestWhatIsCountedByItsIdentityCountsOnce(t *testing.T) {
	twice := ledger.Books{Sent: 9, Acked: 9, Expected: 9, Received: 9, Duplicated: 1}
	for _, delivery := range []string{"at-most-once", "at-least-once", "exactly-once"} {
		g := ledger.Guarantee{Delivery: delivery, Persistence: "log", Counted: true}
		if got := ledger.Keeps(g, []string{"kill"}, twice); got.Promise != ledger.Broken {
			t.Errorf("%s: %+v", delivery, got)
		}
	}
}
