package artemis

import (
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestADiskThatTheServerFindsTooFullIsSaidBeforeItStarts(t *testing.T) {
	n := &provision.Node{Dir: t.TempDir()}
	for _, c := range []struct {
		asked map[string]string
		full  bool
	}{
		{map[string]string{diskUsage: "0"}, true}, // no disk is emptier
		{map[string]string{diskUsage: "101"}, false},
		{map[string]string{diskUsage: "-1"}, false},
		{map[string]string{diskUsage: "0", "min-disk-free": "1M"}, false},
	} {
		err := roomLeft(n, c.asked)
		if (err != nil) != c.full {
			t.Errorf("%v: %v", c.asked, err)
		}
		if c.full && !(strings.Contains(err.Error(), n.Dir) && strings.Contains(err.Error(), "server.max-disk-usage")) {
			t.Error(err)
		}
	}
}
