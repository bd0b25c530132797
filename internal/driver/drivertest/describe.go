package drivertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/testkit"
)

// described asks a broker of a known version for it. A protocol without patch levels may leave it out.
func (r *run) described(t *testing.T) {
	d, err := r.suite.Kind.Open(t.Context(), r.config(t, r.suite.Guarantees[0], r.target))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	asked, ok := d.(driver.Describer)
	if !ok {
		testkit.Without(t, "its protocol has no question for it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	said, err := asked.Describe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, known, product := strings.Cut(r.target.Version, "-") // valkey-8.1.1
	if !product {
		known = r.target.Version
	}
	inferred := strings.HasPrefix(said.Version, "at least ")
	if said.Version == "" || known != "" && !inferred && !strings.HasPrefix(known, said.Version) {
		t.Errorf("version %q of %q, and it is %q", said.Version, said.Product, r.target.Version)
	}
	if r.target.Password == "" {
		return
	}
	for name, value := range said.Settings {
		if text, ok := value.(string); ok && strings.Contains(text, r.target.Password) {
			t.Errorf("%s holds the password", name)
		}
	}
}
