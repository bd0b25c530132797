package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
)

// copyTime is how long new topics may take until every copy follows its leader.
const copyTime = 60 * time.Second

// copies wants as many nodes in step as the spec asks for copies: what a broker was told and what it does may differ.
// It asks through the broker's own administration, before anything is measured.
func (b *bench) copies(ctx context.Context) error {
	if b.instance == nil || b.spec.Replicas < 2 {
		return nil
	}
	if r, ok := catalog.Started(b.spec.Broker); !ok || r.InSync == nil {
		return nil // whether the replicas exist, its driver has checked
	}
	ctx, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	if _, err := b.instance.InSync(ctx, b.spec.Replicas); err != nil {
		return fmt.Errorf("replicas: %d: %w", b.spec.Replicas, err)
	}
	return nil
}
