package lab

import (
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

func TestADeathThatIsReportedAsTheLoadEndsCounts(t *testing.T) {
	deaths, over := make(chan provision.Death, 1), make(chan struct{})
	close(over)
	for range 100 { // select would choose the end in half of them
		deaths <- provision.Death{Node: 3}
		if death, died := awaitDeath(deaths, over); !died || death.Node != 3 {
			t.Fatalf("%v, %v", death, died)
		}
	}
	if death, died := awaitDeath(deaths, over); died {
		t.Errorf("nobody died, but %v", death)
	}
}
