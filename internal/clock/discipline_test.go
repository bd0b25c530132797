package clock

import (
	"strings"
	"testing"
	"time"
)

func TestWhatKeepsTheTimeSaysHowFarItIsOff(t *testing.T) {
	for _, c := range []struct {
		name, text string
		read       func(string) (Discipline, error)
		want       Discipline
	}{
		{
			"chrony", "C0248F97,192.36.143.151,2,1763892713.123456789,-0.000012345,0.000001,0.00002,-21.5,0.001,0.02,0.004,0.0005,64.5,Normal\n", parseTracking,
			Discipline{By: "chrony", Source: "192.36.143.151", Bound: 2_512_345 * time.Nanosecond},
		},
		{
			"a later chrony with one more field", "A,server,2,1,-0.1,0,0,0,0,0,0.2,0.3,64,Normal,7\n", parseTracking,
			Discipline{By: "chrony", Source: "server", Bound: 500 * time.Millisecond},
		},
		{
			"PTP", "sending: GET CURRENT_DATA_SET\n\t90e2ba.fffe.20a1b2-0 seq 0 RESPONSE MANAGEMENT CURRENT_DATA_SET\n\t\tstepsRemoved     1\n\t\toffsetFromMaster -12.0\n\t\tmeanPathDelay    421.0\n", parseCurrentDataSet,
			Discipline{By: "PTP", Bound: 433 * time.Nanosecond},
		},
		{
			"PTP that is seconds off", "stepsRemoved 1\noffsetFromMaster 2500000000.0\nmeanPathDelay 400.0\n", parseCurrentDataSet,
			Discipline{By: "PTP", Bound: 2500*time.Millisecond + 400},
		},
	} {
		if got, err := c.read(c.text); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestWhatDoesNotKeepTheTimeSaysNothing(t *testing.T) {
	for _, c := range []struct {
		text, want string
		read       func(string) (Discipline, error)
	}{
		{"", "1 fields", parseTracking},
		{"506 Cannot talk to daemon", "1 fields", parseTracking},
		{"00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised", "not synchronised", parseTracking},
		{"A,b,2,1,x,0,0,0,0,0,0.1,0.1,64,Normal", "invalid syntax", parseTracking},
		{"A,b,2,1,0,0,0,0,0,0,NaN,0.1,64,Normal", "NaN is not", parseTracking},
		{"A,b,2,1,0,0,0,0,0,0,0.1,1e99,64,Normal", "1e99 is not", parseTracking},
		{"", "invalid syntax", parseCurrentDataSet},
		{"stepsRemoved 0\noffsetFromMaster 0.0\nmeanPathDelay 0.0", "not synchronised", parseCurrentDataSet},
		{"stepsRemoved 1\noffsetFromMaster 0.0", "invalid syntax", parseCurrentDataSet},
	} {
		if d, err := c.read(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %+v, %v; want %q", c.text, d, err, c.want)
		}
	}
}

func TestDisciplineIsAskedForAndRefusesNothing(t *testing.T) {
	if d, ok := Disciplined(t.Context()); ok && (d.By == "" || d.Bound < 0) || !ok && d != (Discipline{}) {
		t.Errorf("%+v, %v", d, ok)
	} else {
		t.Logf("%+v, %v", d, ok)
	}
}
