package reach_test

import (
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/reach"
)

func TestVersionsCompareByNumber(t *testing.T) {
	for text, want := range map[string]bool{"3.9.29": false, "3.10.8": false, "3.11.0": true, "3.13.7": true, "4.0.5": true, "10.0": true} {
		if late, early := reach.AtLeast(text, 3, 11), reach.Before(text, 3, 11); late != want || early == want {
			t.Errorf("%s is 3.11 or later: %v; earlier: %v", text, late, early)
		}
	}
	for _, unknown := range []string{"", "banana", "4"} {
		if reach.AtLeast(unknown, 0, 0) || reach.Before(unknown, 9, 9) {
			t.Errorf("%q is taken for a version", unknown)
		}
	}
}
