package lab

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/study"
)

func TestAPasswordThatCrossesTheNetworkUnencryptedIsSaid(t *testing.T) {
	addresses := []string{"localhost:1", "127.0.0.2:1", "[::1]:1", "bench-1:9092", "10.0.0.7:9092"}
	for name, c := range map[string]struct {
		spec study.Spec
		want []string
	}{
		"a password":        {study.Spec{Attach: addresses, User: "eve", TLS: study.TLSOff}, []string{"bench-1", "10.0.0.7"}},
		"encrypted":         {study.Spec{Attach: addresses, User: "eve", TLS: study.TLSOn}, nil},
		"no password":       {study.Spec{Attach: addresses, TLS: study.TLSOff}, nil},
		"a broker of a run": {study.Spec{TLS: study.TLSOff}, nil},
	} {
		if got := Overheard(c.spec); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
