package figure

import (
	"image/color"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// queues are panels for runs of pipelines: what the broker said of the queue before the consumer.
var queues = []course{
	{name: "queue (messages)", unit: unit.Count, keys: [2]string{"waiting", "unacknowledged"}, lines: looked(
		func(t store.PipelineTick) float64 { return results.Told(t.Queue) },
		func(t store.PipelineTick) float64 { return results.Told(t.Unacked) },
	)},
	{name: "through the queue (messages/s)", unit: unit.PerSecond, keys: [2]string{"into the queue", "out of it"}, lines: looked(
		func(t store.PipelineTick) float64 { return results.Told(t.PublishedRate) },
		func(t store.PipelineTick) float64 { return results.Told(t.DeliveredRate) },
	)},
}

// parts are panels for one run of a pipeline, with a line for each part.
var parts = []course{
	{name: "CPU of each part (cores)", unit: unit.None, lines: partly(func(t store.PipelineTick, i int) float64 { return t.CPU[i] })},
	{name: "memory of each part", unit: unit.Bytes, lines: partly(func(t store.PipelineTick, i int) float64 { return float64(t.RSSBytes[i]) })},
}

func isPipeline(r store.Record) bool { return len(results.PipelineCourse(r)) > 0 }

// pipelinePanels are those that these runs fill. Parts have the colours, so they are drawn where there is one run.
func pipelinePanels(runs []store.Record) []course {
	if !slices.ContainsFunc(runs, isPipeline) {
		return nil
	}
	if len(runs) > 1 {
		return queues
	}
	return slices.Concat(queues, parts)
}

// looked draws one line, and one with dashes, of what the broker told.
func looked(of ...func(store.PipelineTick) float64) func(store.Record, int) []trace {
	return func(r store.Record, i int) (traces []trace) {
		for k, value := range of {
			t := trace{line: line(colourOf(i))}
			if k == 1 {
				t.line.Dashes = dashed
			}
			for _, look := range results.PipelineCourse(r) {
				t.marks = append(t.marks, at(look, value(look), r))
			}
			traces = append(traces, t)
		}
		return traces
	}
}

// partly draws a line for each part.
func partly(of func(t store.PipelineTick, part int) float64) func(store.Record, int) []trace {
	return func(r store.Record, _ int) (traces []trace) {
		for i := range partNames(r) {
			t := trace{line: line(partColour(i))}
			for _, look := range results.PipelineCourse(r) {
				if i < len(look.CPU) && i < len(look.RSSBytes) {
					t.marks = append(t.marks, at(look, of(look, i), r))
				}
			}
			traces = append(traces, t)
		}
		return traces
	}
}

func at(look store.PipelineTick, v float64, r store.Record) mark {
	return mark{float64(look.OffsetNs) / 1e9, v, v, v, r.Status == store.OK}
}

// partColour is none of the run's own.
func partColour(i int) color.RGBA { return colourOf(1 + i) }

func partNames(r store.Record) (names []string) {
	if isPipeline(r) {
		for _, p := range r.Result.Pipeline.Parts {
			names = append(names, p.Name)
		}
	}
	return names
}

// partEntries say which colour is which part.
func partEntries(runs []store.Record) (list []Entry) {
	if len(runs) > 1 {
		return nil
	}
	for i, name := range partNames(runs[0]) {
		l := line(partColour(i))
		list = append(list, Entry{Text: name, Line: &l})
	}
	return list
}
