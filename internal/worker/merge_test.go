package worker

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
)

// The same 5 deliveries are overdue to both workers. One of them returned no shard, so there are no books of both.
func TestAnOutcomeWithoutAJoinedLedgerKeepsWhatTheWorkersAgreeOn(t *testing.T) {
	parts := []Outcome{
		{Overdue: 5, Early: measure.Early{Deliveries: 2, By: 30}, Shard: &measure.Shard{}},
		{Overdue: 5, Early: measure.Early{Deliveries: 1, By: 70}},
	}
	out := Plan{}.Joined(Load{}, parts, make([]clock.Line, 2))
	if want := (measure.Early{Deliveries: 3, By: 70}); out.Err == nil || out.Overdue != 5 || out.Early != want {
		t.Errorf("%v, %d overdue, %+v; want an error, 5 and %+v", out.Err, out.Overdue, out.Early, want)
	}
}

// The sets of messages of a worker, which may be a stranger's agent, are as large as the numbers that it claims to have sent.
func TestAWorkerCannotClaimMoreMessagesThanItCanHaveSent(t *testing.T) {
	load := Load{Duration: 10 * time.Second}
	for n, refused := range map[int64]bool{1 << 20: false, 1 << 43: true, -1: true} {
		shard := &measure.Shard{}
		shard.Counts.Sent[measure.Measured] = n
		out := Plan{}.Joined(load, []Outcome{{Shard: shard}, {Shard: &measure.Shard{}}}, make([]clock.Line, 2))
		if says := out.Err != nil && strings.Contains(out.Err.Error(), "worker 1 says that it sent "); says != refused {
			t.Errorf("%d messages: %v", n, out.Err)
		}
	}
}

// fill sets every number, truth and error in a struct to a value that is not zero, also in the first element of its slices.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("why")
	case reflect.Interface:
		v.Set(reflect.ValueOf(errors.New("failed")))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	}
}

// Each new field of Outcome needs a rule for merging outcomes.
func TestNoFieldOfAnOutcomeIsForgottenWhenItIsMerged(t *testing.T) {
	computed := []string{"Samples", "BacklogMax", "DeliverySilences", "ConfirmationSilences"}               // from the samples of all parts
	setLater := []string{"Shard", "Unordered", "ClockBound", "Histograms", "Filling", "Warmup", "Measured"} // by Joined or package fleet; the last four have tests of their own
	var part Outcome
	fill(reflect.ValueOf(&part).Elem())
	merged := reflect.ValueOf(Merged([]Outcome{part, part}))
	for i := range merged.NumField() {
		name := merged.Type().Field(i).Name
		if merged.Field(i).IsZero() && !slices.Contains(slices.Concat(computed, setLater), name) {
			t.Errorf("%s is lost", name)
		}
	}
	drain := merged.FieldByName("Backlog")
	for i := range drain.NumField() {
		if drain.Field(i).IsZero() {
			t.Errorf("Backlog.%s is lost", drain.Type().Field(i).Name)
		}
	}
}

// For each new number of Outcome this test has to know whether it is a time.
func TestEveryNumberOfAnOutcomeIsATimeThatMovesOrIsNone(t *testing.T) {
	noTimes := []string{"Overdue", "Listened", "Dropped", "Others", "BacklogMax", "Producers", "Procs", "Held", "Blocked", "Sending", "Unordered", "ClockBound", "Filled", "FilledBytes", "Received"}
	var o Outcome
	fill(reflect.ValueOf(&o).Elem())
	const offset = int64(time.Hour)
	moved := reflect.ValueOf(o.Moved(offset))
	for _, v := range []reflect.Value{moved, moved.FieldByName("Backlog")} {
		for i := range v.NumField() {
			name, isNumber := v.Type().Field(i).Name, v.Field(i).CanInt()
			if isNumber && (v.Field(i).Int() == 1+offset) == slices.Contains(noTimes, name) {
				t.Errorf("%s is %d", name, v.Field(i).Int())
			}
		}
	}
}
