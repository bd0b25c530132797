package figure

import (
	"math"
	"testing"

	"gonum.org/v1/plot"
)

func TestAnIntervalThatGoesOnBeyondThePanelHasNoCapThere(t *testing.T) {
	axis := plot.Axis{Min: 1, Max: 100} // logarithmic, without a place for 0
	for m, want := range map[mark]intervalEnds{
		{y: 10, low: 1, high: 100}:         {capBelow: true, capAbove: true},
		{y: 10, low: 0, high: 20}:          {capBelow: false, capAbove: true},
		{y: 10, low: 5, high: 200}:         {capBelow: true, capAbove: false},
		{y: 10, low: 5, high: math.Inf(1)}: {capBelow: true, arrow: true},
	} {
		if got := endsOf(m, axis); got != want {
			t.Errorf("%+v ends %+v, want %+v", m, got, want)
		}
	}
}
