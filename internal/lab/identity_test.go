package lab

import (
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/wire"
)

func TestEveryProducerThatASpecAllowsHasAnIdentity(t *testing.T) {
	for producers, allowed := range map[int]bool{wire.MaxProducers: true, wire.MaxProducers + 1: false} {
		s, err := study.Parse("wide.yaml", fmt.Appendf(nil, "measure: peak\ntopics: %d\n", producers))
		if err == nil {
			_, err = s.Points()
		}
		if (err == nil) != allowed {
			t.Errorf("%d producers: %v", producers, err)
		}
	}
}
