package rabbitserver

import (
	"errors"
	"maps"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestAPolicyIsReadOrRefusedByName(t *testing.T) {
	type settings = map[string]any
	for name, c := range map[string]struct {
		version string
		asked   settings
		want    map[string]any
		refused string
	}{
		"mirrors on 4":         {"4.0.5", settings{"policy.ha-mode": "all"}, nil, "policy.ha-mode"},
		"lazy on 4":            {"4.0.5", settings{"policy.queue-mode": "lazy"}, nil, "policy.queue-mode"},
		"an unknown key":       {"3.10.8", settings{"policy.ha-mod": "all"}, nil, "policy.ha-mod"},
		"an argument":          {"3.10.8", settings{"policy.max-length": 10}, nil, "policy.max-length"},
		"an unknown word":      {"3.10.8", settings{"policy.ha-mode": "some"}, nil, "policy.ha-mode"},
		"no number":            {"3.10.8", settings{"policy.ha-mode": "exactly", "policy.ha-params": "two"}, nil, "policy.ha-params"},
		"exactly how many":     {"3.10.8", settings{"policy.ha-mode": "exactly"}, nil, "policy.ha-params"},
		"how many of all":      {"3.10.8", settings{"policy.ha-mode": "all", "policy.ha-params": 2}, nil, "policy.ha-params"},
		"mirrors of nothing":   {"3.10.8", settings{"policy.ha-sync-mode": "automatic"}, nil, "policy.ha-sync-mode"},
		"no policy":            {"4.0.5", settings{"heartbeat": 10}, nil, ""},
		"all, at once in step": {"3.10.8", settings{"policy.ha-mode": "all", "policy.ha-sync-mode": "automatic"}, settings{"ha-mode": "all", "ha-sync-mode": "automatic"}, ""},
		"two of three":         {"3.10.8", settings{"policy.ha-mode": "exactly", "policy.ha-params": 2.0}, settings{"ha-mode": "exactly", "ha-params": 2}, ""},
		"lazy":                 {"3.10.8", settings{"policy.queue-mode": "lazy"}, settings{"queue-mode": "lazy"}, ""},
	} {
		got, err := Policy(c.version, c.asked)
		var refused *provision.ErrSetting
		switch {
		case c.refused != "" && (!errors.As(err, &refused) || refused.Name != c.refused):
			t.Errorf("%s: %v; want %s refused", name, err, c.refused)
		case c.refused == "" && (err != nil || !maps.Equal(got, c.want)):
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

func TestAPolicyMakesCopies(t *testing.T) {
	for want, policy := range map[int]map[string]any{
		1: {"queue-mode": "lazy"}, 3: {"ha-mode": "all"}, 2: {"ha-mode": "exactly", "ha-params": 2},
	} {
		if got := Copies(policy, 3); got != want {
			t.Errorf("%v: %d copies on 3 nodes, want %d", policy, got, want)
		}
	}
	if got := Copies(map[string]any{"ha-mode": "exactly", "ha-params": 5}, 3); got != 3 {
		t.Errorf("exactly 5: %d copies on 3 nodes", got)
	}
}

func TestTheQueueWithTheFewestMirrorsInStepCounts(t *testing.T) {
	for lines, want := range map[string]int{
		"":                                     0,
		"\t\n":                                 0,
		"[<r-2@a.1.2.3>, <r-3@a.1.2.3>]\t[]\n": 1,
		"[<r-2@a.1.2.3>, <r-3@a.1.2.3>]\t[<r-2@a.1.2.3>, <r-3@a.1.2.3>]\n[<r-2@a.1.2.3>]\t[<r-2@a.1.2.3>]\n": 2,
	} {
		if got := mirrorsInSync(lines); got != want {
			t.Errorf("%q: %d, want %d", lines, got, want)
		}
	}
	if both(0, 2) != 2 || both(3, 0) != 3 || both(2, 3) != 2 {
		t.Error("the smaller of two numbers, of which 0 is none")
	}
}
