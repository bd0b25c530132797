package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// register adds kinds for one test.
func register(t *testing.T, names ...string) {
	t.Helper()
	before := kinds
	kinds = map[string]Kind{}
	t.Cleanup(func() { kinds = before })
	for _, n := range names {
		Register(complete(n))
	}
}

func complete(name string) Kind {
	return Kind{
		Name:     name,
		Supports: func(Guarantee) error { return nil },
		Open:     func(context.Context, Config) (Driver, error) { return nil, errors.New("not for opening") },
	}
}

func TestAnUnknownBrokerIsAnsweredWithTheKnownOnes(t *testing.T) {
	register(t, "wheel", "axle")
	if _, err := Lookup("whell"); err == nil || err.Error() != `unknown broker "whell"; known: axle, wheel` {
		t.Errorf("%v", err)
	}
	k, err := Lookup("wheel")
	if err != nil || k.Name != "wheel" {
		t.Errorf("%q, %v", k.Name, err)
	}
	if got := Names(); !slices.Equal(got, []string{"axle", "wheel"}) {
		t.Errorf("%v", got)
	}
}

func TestRegisterPanicsOnDuplicatesAndOnWhatIsIncomplete(t *testing.T) {
	register(t, "wheel")
	noName, noOpen, noSupports := complete(""), complete("axle"), complete("axle")
	noOpen.Open, noSupports.Supports = nil, nil
	for want, k := range map[string]Kind{
		"registered twice: wheel": complete("wheel"),
		`incomplete kind ""`:      noName,
		`incomplete kind "axle"`:  noOpen,
	} {
		if got := panicOf(k); !strings.Contains(got, want) {
			t.Errorf("registering %q: panic %q, want %q", k.Name, got, want)
		}
	}
	if got := panicOf(noSupports); !strings.Contains(got, "incomplete") {
		t.Errorf("without Supports: panic %q", got)
	}
}

func panicOf(k Kind) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	Register(k)
	return ""
}

func TestARefusalNamesTheSettingAndTheReason(t *testing.T) {
	err := Unsupported("replicas", "%d nodes can't hold %d copies", 1, 3)
	if got, want := err.Error(), "replicas is not supported: 1 nodes can't hold 3 copies"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var refusal *ErrUnsupported
	if !errors.As(fmt.Errorf("opening: %w", err), &refusal) || refusal.Setting != "replicas" {
		t.Error("a wrapped refusal isn't recognised")
	}
}
