package cli_test

import (
	"runtime"
	"strings"
	"testing"
)

func TestTheVersionIsACommandAndAFlag(t *testing.T) {
	line := brokermark(t, "version").want(t, 0).out
	if flag := brokermark(t, "--version").want(t, 0).out; flag != line {
		t.Errorf("--version prints %q, version prints %q", flag, line)
	}
	if fields := strings.Fields(line); len(fields) != 4 || fields[0] != "brokermark" || fields[2] != runtime.Version() {
		t.Errorf("got %q, want brokermark, its version, Go's version and the platform", line)
	}
}

func TestTheLicencesOfEverythingInsideArePrinted(t *testing.T) {
	out := brokermark(t, "version", "--licenses").want(t, 0).out
	for _, want := range []string{
		"Apache License 2.0", "github.com/nats-io/nats-server/v2 v", "echarts ", "SIL OPEN FONT LICENSE", "Redistributions in binary form",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the licences lack %q", want)
		}
	}
}
