package lab

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/study"
)

func TestFaultsDueAfterTheEndOfTheRunAreMissed(t *testing.T) {
	hour := study.Duration(time.Hour)
	listed := []study.Fault{{At: hour, Do: "restart"}, {At: hour, Do: "kill", For: hour}, {At: hour, Do: "pause", For: hour}}
	f := &faultInjector{bench: &bench{spec: study.Spec{Faults: listed}}}
	over, end := context.WithCancel(t.Context())
	end()
	f.inject(t.Context(), over, clock.Now())
	if want := []string{"restart at 1h0m0s", "kill at 1h0m0s", "pause at 1h0m0s"}; !reflect.DeepEqual(f.missed, want) {
		t.Errorf("%q, want %q", f.missed, want)
	}
}
