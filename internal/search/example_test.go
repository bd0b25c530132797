package search_test

import (
	"context"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/remark"
	"github.com/brokermark/brokermark/internal/search"
)

// The broker carries 35,000 messages per second. This is the example in the package's doc comment.
func ExampleRun() {
	const capacity = 35_000
	plan := search.Plan{
		Goals: []search.Goal{{ExceedRatio: 0.34, FinalDuration: 5 * time.Second, DurationSum: 15150 * time.Millisecond, Width: 0.05}},
		Begin: 10_000, Short: time.Second, MaxTrials: 30, Floor: 1,
	}
	found, err := search.Run(context.Background(), plan, func(_ context.Context, r search.Request) (search.Answer, error) {
		judgement := search.Judgement{Verdict: search.Pass}
		if r.Rate > capacity {
			judgement = search.Judgement{Verdict: search.Fail, Reason: remark.Of("the backlog grew")}
		}
		through := min(r.Rate, capacity)
		fmt.Printf("%-7s %.0f/s for %s: %s\n", r.Kind, r.Rate, r.For, judgement.Verdict)
		return search.Answer{Judgements: []search.Judgement{judgement}, Served: through, Through: through, Took: r.For}, nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("sustainable: between %.0f and %.0f/s\n", found.Goals[0].Low, found.Goals[0].High)
	// Output:
	// short   10000/s for 1s: pass
	// short   12155/s for 1s: pass
	// short   17959/s for 1s: pass
	// short   39201/s for 1s: fail
	// short   34157/s for 1s: pass
	// short   35864/s for 1s: fail
	// confirm 34157/s for 5s: pass
	// confirm 34157/s for 5s: pass
	// short   35864/s for 1s: fail
	// confirm 35864/s for 5s: fail
	// sustainable: between 34157 and 35864/s
}
