package worker

// Thinned keeps a row of values that may go on for days: all of them at first, then every second, every fourth, …, so that
// they are always evenly spread and at most Limit. What is dropped is dropped whole; nothing is averaged.
type Thinned[T any] struct {
	Limit int
	kept  []T
	every int // of how many one is kept
	seen  int
}

// Add takes the next value of the row.
func (t *Thinned[T]) Add(v T) {
	t.every = max(t.every, 1)
	if t.seen%t.every == 0 {
		if len(t.kept) == t.Limit {
			for i := range t.Limit / 2 {
				t.kept[i] = t.kept[2*i]
			}
			t.kept = t.kept[:t.Limit/2]
			t.every *= 2
		}
		if t.seen%t.every == 0 {
			t.kept = append(t.kept, v)
		}
	}
	t.seen++
}

// Values are those that were kept, in order.
func (t *Thinned[T]) Values() []T { return t.kept }
