package driver

import (
	"fmt"
	"slices"
	"testing"
)

func TestConsumersDivideThePartitionsAmongThemselves(t *testing.T) {
	for _, c := range []struct {
		consumers, partitions int
		want                  string // of each consumer
	}{
		{1, 1, "[[0]]"},
		{1, 3, "[[0 1 2]]"},
		{2, 5, "[[0 2 4] [1 3]]"},
		{3, 3, "[[0] [1] [2]]"},
		{5, 2, "[[0] [1] [0] [1] [0]]"},
		{2, 0, "[[0] [0]]"},
	} {
		var got [][]int
		for id := range c.consumers {
			got = append(got, ConsumerConfig{ID: id, Of: c.consumers}.Partitions(c.partitions))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d consumers of %d partitions read %v, want %s", c.consumers, c.partitions, got, c.want)
		}
	}
	if got := (ConsumerConfig{ID: 1}).Partitions(3); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("a consumer that doesn't know how many there are reads %v, want all", got)
	}
	most := 0
	for id := range 7 {
		most = max(most, 2*len(ConsumerConfig{ID: id, Of: 7}.Partitions(100)))
	}
	if got := (Shape{Topics: 4, Connections: 2, Partitions: 100, Consumers: 7}).Queues(); got != most {
		t.Errorf("a consumer is said to read %d queues, and reads %d", got, most)
	}
}
