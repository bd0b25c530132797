package search

import (
	"testing"
	"time"
)

// A goal for which nothing is confirmed may take one budget more, and not one for each goal before it.
func TestALaterGoalOverrunsByOneBudgetAtMost(t *testing.T) {
	p := planFor(confirmed(2, 0), confirmed(2, 0))
	p.Budget = 10 * time.Second
	s := newSearcher(p)
	for spent, want := range map[time.Duration]bool{20 * time.Second: true, 21 * time.Second: false} {
		s.spent = spent
		if got := s.goals[1].affords(Request{Kind: Short, Rate: 1000, For: 10 * time.Second}); got != want {
			t.Errorf("after %v of two budgets of %v: %v", spent, p.Budget, got)
		}
	}
}
