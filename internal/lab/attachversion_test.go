package lab

import (
	"errors"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
)

func TestAPointAboutAnotherVersionThanTheAttachedBrokersIsRefused(t *testing.T) {
	down := errors.New("it is down")
	for _, c := range []struct {
		want     string
		attached driver.Description
		asking   error
		refusal  string
	}{
		{"", driver.Description{}, down, ""},
		{"4", driver.Description{Version: "4.1"}, nil, ""},
		{"4", driver.Description{Version: "at least 4.2"}, nil, ""},
		{"4.1", driver.Description{Version: "4.1.3"}, down, ""},
		{"4.1", driver.Description{Version: "4.1"}, nil, ""},
		{"4.1", driver.Description{Version: "4.10", Product: "Kafka"}, nil, "version: 4.1 is not supported: the attached broker is Kafka 4.10"},
		{"1", driver.Description{Version: "4.1"}, nil, "version: 1 is not supported: the attached broker is 4.1"},
		{"4", driver.Description{Version: "at least 2.4", Product: "Redpanda"}, nil, "version: 4 is not supported: the attached broker is Redpanda at least 2.4"},
		{"0.17", driver.Description{}, nil, "version: 0.17 is not supported: the attached broker does not say which version it is"},
		{"4", driver.Description{}, down, "version: 4: the attached broker could not be asked for its version: it is down"},
	} {
		got := ""
		err := checkVersion(c.want, c.attached, c.asking)
		if err != nil {
			got = err.Error()
		}
		if got != c.refusal {
			t.Errorf("version %s, attached %+v: %q, want %q", c.want, c.attached, got, c.refusal)
		}
		if _, refused := errors.AsType[*driver.ErrUnsupported](err); refused != (err != nil && c.asking == nil) {
			t.Errorf("%v is a refusal: %t", err, refused)
		}
	}
}
