package suggest_test

import (
	"testing"

	"github.com/brokermark/brokermark/internal/suggest"
)

func TestTheNearestWordIsSuggestedAndNoneThatIsFar(t *testing.T) {
	known := []string{"batch.size", "linger.ms", "acks", "TLS", "id"}
	for word, want := range map[string]string{
		"batchsize": "batch.size", "batch_size": "batch.size", "linger": "linger.ms", "ack": "acks", "Acks": "acks", "tls": "TLS", "colour": "", "": "",
		"ix": "id", "xy": "", // every letter would be another
	} {
		if got := suggest.Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
		clause := ""
		if want != "" {
			clause = `; did you mean "` + want + `"?`
		}
		if got := suggest.DidYouMean(word, known); got != clause {
			t.Errorf("%q: %q, want %q", word, got, clause)
		}
	}
}

func TestAWordThatIsAPartOfAKnownOneMeansThat(t *testing.T) {
	known := []string{"compression.type", "compression.zstd.level", "latency-throughput", "e2e_p99", "e2e_service_p99"}
	for word, want := range map[string]string{"compression": "compression.type", "latency": "latency-throughput", "p99": "e2e_p99", "zstd.level": "compression.zstd.level", "press": "", "": ""} {
		if got := suggest.Containing(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestTheClosestWordIsAlwaysOne(t *testing.T) {
	for word, want := range map[string]string{"brokre": "broker", "qqq": "broker", "siz": "size"} {
		if got := suggest.Closest(word, []string{"size", "broker"}); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := suggest.Closest("x", nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
