package spans

import "testing"

func TestAnIdentityIsDeliveredOnceByTheConsumersOfASubscription(t *testing.T) {
	var d Deliveries
	for _, c := range []struct {
		identity string
		first    bool
	}{{"a.1-1", true}, {"a.1-2", true}, {"a.2-1", true}, {"a.1-1", false}, {"", true}, {"", true}, {"somebody's", true}, {"somebody's", true}} {
		if got := d.First(0, 0, c.identity); got != c.first {
			t.Errorf("%q comes for the first time: %v, want %v", c.identity, got, c.first)
		}
	}
	if !d.First(1, 0, "a.1-1") || !d.First(0, 1, "a.1-1") || d.First(0, 0, "a.2-1") {
		t.Error("subscriptions of a topic, or topics, share what they have delivered")
	}
}
