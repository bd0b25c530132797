package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
)

// replicaTimeout is how long new topics may take until every replica follows its leader.
const replicaTimeout = 60 * time.Second

// awaitReplicas waits until the broker reports, by its own administration, as many replicas in sync as the spec asks for. A broker
// may accept a number of replicas and run fewer. Nothing is measured before.
func (b *bench) awaitReplicas(ctx context.Context) error {
	if b.instance == nil || b.spec.Replicas < 2 {
		return nil
	}
	if r, ok := catalog.Started(b.spec.Broker); !ok || r.InSync == nil { // then the driver's Setup has checked them
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, replicaTimeout)
	defer cancel()
	if _, err := b.instance.InSync(ctx, b.spec.Replicas); err != nil {
		return fmt.Errorf("replicas: %d: %w", b.spec.Replicas, err)
	}
	return nil
}
