package provision

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestCopiesAreWaitedForAndCounted(t *testing.T) {
	asked := 0
	catchingUp := func(context.Context, *Cluster) (int, error) {
		asked++
		return min(asked, 3), nil
	}
	for name, c := range map[string]struct {
		ask  func(context.Context, *Cluster) (int, error)
		want int
		says string
	}{
		"not known":    {nil, 0, "how many copies are in step is not known for this broker"},
		"one is away":  {func(context.Context, *Cluster) (int, error) { return 2, nil }, 2, "2 of 3 copies are in step"},
		"nobody tells": {func(context.Context, *Cluster) (int, error) { return 0, errors.New("no answer") }, 0, "no answer"},
		"they come":    {catchingUp, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Instance{cluster: &Cluster{Recipe: &Recipe{Broker: "testbroker", InSync: c.ask}}}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if c.says != "" {
				ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
			}
			got, err := in.InSync(ctx, 3)
			if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d, %v; want %d, %q", got, err, c.want, c.says)
			}
		})
	}
}
