package suggest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/suggest"
	"github.com/brokermark/brokermark/internal/testkit"
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

// Documents of strangers have long words.
func TestALongWordIsComparedSoon(t *testing.T) {
	began, long := time.Now(), strings.Repeat("x", 8<<20)
	if near := suggest.Nearest(long, []string{"batch.size"}) + suggest.Closest("acks"+long, []string{"linger.ms", "acks"}); near != "acks" {
		t.Errorf("%q", near)
	}
	if took := time.Since(began); took > testkit.Within(time.Second) {
		t.Errorf("it took %s", took)
	}
}
