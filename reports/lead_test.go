package reports

import (
	"testing"

	"github.com/brokermark/brokermark/internal/claim"
	"github.com/brokermark/brokermark/internal/unit"
)

func TestTheLeadOfARankingSaysAgainstWhom(t *testing.T) {
	part := claim.Part{Figure: claim.Figure{Value: 2, Low: 2, High: 2, N: 1, Unit: unit.Factor}}
	for place, want := range map[int]string{1: "2.00× the best other", claim.LastPlace: "2.00× the worst other"} {
		s := claim.Statement{Kind: claim.Rank, Ranking: claim.Ranking{Who: "kafka", Place: place}}
		if got := figureText(s, part); got != want {
			t.Errorf("place %d: %q, want %q", place, got, want)
		}
	}
}
