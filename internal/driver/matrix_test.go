package driver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

// kindOf answers by a rule that says why not, or "".
func kindOf(refuses func(driver.Guarantee) string) driver.Kind {
	return driver.Kind{
		Name: "toy",
		Supports: func(g driver.Guarantee) error {
			if why := refuses(g); why != "" {
				return driver.Unsupported(why, "a toy can't")
			}
			return nil
		},
		Maps: func(g driver.Guarantee) []driver.Native {
			return []driver.Native{{Side: driver.ProducerSide, Name: "acks", Value: string(g.Acks)}, {Side: driver.TopicSide, Name: "written"}}
		},
	}
}

func TestMatrixFoldsEqualAnswersAndLosesNone(t *testing.T) {
	for name, c := range map[string]struct {
		refuses func(driver.Guarantee) string
		want    []string
		cells   int
	}{
		"refuses everything": {
			func(driver.Guarantee) string { return "anything" },
			[]string{"any any any any any: anything is not supported: a toy can't"},
			108,
		},
		"one copy, at most once": {
			func(g driver.Guarantee) string {
				switch {
				case g.Replicas > 1:
					return "replicas"
				case g.Delivery != driver.AtMostOnce:
					return "delivery"
				}
				return ""
			},
			[]string{
				"at-most-once any 1 none any: producer: acks=none; topic: written",
				"at-most-once any 1 leader any: producer: acks=leader; topic: written",
				"at-most-once any 1 quorum any: producer: acks=quorum; topic: written",
				"at-least-once, exactly-once any 1 any any: delivery is not supported: a toy can't",
				"any any 3 any any: replicas is not supported: a toy can't",
			},
			108,
		},
		"a pair": {
			func(g driver.Guarantee) string {
				if g.Replicas > 2 || g.Acks != driver.AcksQuorum {
					return "more than two"
				}
				return ""
			},
			[]string{
				"any any 1, 2 quorum any: producer: acks=quorum; topic: written",
				"any any any none, leader any: more than two is not supported: a toy can't",
				"any any 3 quorum any: more than two is not supported: a toy can't",
			},
			162,
		},
	} {
		t.Run(name, func(t *testing.T) {
			matrix := kindOf(c.refuses).Matrix()
			var got []string
			cells := 0
			for _, r := range driver.Rows(matrix) {
				answer := driver.NativeText(r.Native)
				if r.Cells[0].Refusal != nil {
					answer = r.Cells[0].Refusal.Error()
				}
				got = append(got, fmt.Sprintf("%s %s %s %s %s: %s", r.Delivery, r.Persistence, r.Replicas, r.Acks, r.Ordering, answer))
				cells += len(r.Cells)
			}
			if cells != c.cells || len(matrix) != c.cells {
				t.Errorf("%d cells in %d of the rows, want %d", len(matrix), cells, c.cells)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestARowNamesTheConditionsOfItsOwnCellsOnly(t *testing.T) {
	toy := kindOf(func(g driver.Guarantee) string {
		switch {
		case g.Delivery != driver.AtLeastOnce || g.Persistence != driver.Log || g.Acks == driver.AcksNone:
			return "another"
		case g.Replicas > 1 && (g.Ordering == driver.Ordered || g.Acks == driver.AcksLeader):
			return "order of copies"
		}
		return ""
	})
	toy.Maps = func(g driver.Guarantee) []driver.Native {
		copies := driver.Native{Side: driver.TopicSide, Name: "copies", Value: fmt.Sprint(g.Replicas)}
		if g.Replicas == 1 && g.Ordering == driver.Ordered {
			return []driver.Native{copies, {Side: driver.ServerSide, Name: "one by one", Value: "yes (slowly)"}}
		}
		return []driver.Native{copies}
	}
	var got []string
	for _, r := range driver.Rows(toy.Matrix()) {
		if r.Cells[0].Refusal == nil {
			got = append(got, r.Replicas+" "+r.Acks+" "+r.Ordering+": "+driver.NativeText(r.Native))
		}
	}
	want := []string{
		"1 leader, quorum any: topic: copies=1; server: one by one=yes (slowly; ordered)",
		"3 quorum unordered: topic: copies=3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
