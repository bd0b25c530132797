package usual

import (
	"fmt"
	"testing"
)

func TestAConnectionIsSharedByAsManyPartitionsAsItServes(t *testing.T) {
	for _, c := range []struct{ sharing, topics, partitions, want int }{
		{0, 1000, 1, 0}, {AnyNumber, 1000, 8, 1}, {AnyNumber, 0, 1, 0}, {64, 64, 1, 1}, {64, 65, 1, 2}, {64, 128, 1, 2}, {64, 17, 64, 17}, {64, 17, 1000, 17},
	} {
		if got := (Defaults{Sharing: c.sharing}).Connections(c.topics, c.partitions); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestOneBrokerIsFirst(t *testing.T) {
	before := known
	defer func() { known = before }()
	known = map[string]Defaults{}
	if First() != "" || Of("x").First {
		t.Errorf("nobody registered %q or %+v", First(), Of("x"))
	}
	Register("b", Defaults{})
	Register("x", Defaults{First: true, Sharing: 3})
	Register("a", Defaults{})
	if First() != "x" || Of("x").Sharing != 3 {
		t.Errorf("first is %q, x is %+v", First(), Of("x"))
	}
	defer func() {
		if said := fmt.Sprint(recover()); said != "usual: both x and y are to be first" {
			t.Errorf("a second one was not refused: %s", said)
		}
	}()
	Register("y", Defaults{First: true})
}
