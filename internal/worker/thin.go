package worker

// Thinned keeps an evenly spread part of a sequence that may go on for days: at most Limit values, in constant memory. It keeps all
// values at first. When Limit is reached it drops every second one, and from then on keeps only every second new value, later every
// fourth, eighth and so on. It never averages values.
//
// With a Limit of 4, the values 1 to 4 are all kept; after value 5, 1, 3 and 5 are left; after value 9, 1, 5 and 9.
type Thinned[T any] struct {
	Limit int // even; set before the first Add
	kept  []T
	step  int // every step-th value is kept
	added int // values so far, kept or not
}

// Add takes the next value of the sequence.
func (t *Thinned[T]) Add(v T) {
	t.step = max(t.step, 1)
	if t.added%t.step == 0 && len(t.kept) == t.Limit {
		t.dropEverySecond()
	}
	if t.added%t.step == 0 {
		t.kept = append(t.kept, v)
	}
	t.added++
}

func (t *Thinned[T]) dropEverySecond() {
	for i := range t.Limit / 2 {
		t.kept[i] = t.kept[2*i]
	}
	t.kept = t.kept[:t.Limit/2]
	t.step *= 2
}

// Values returns the values that were kept, in order. They are valid until the next Add.
func (t *Thinned[T]) Values() []T { return t.kept }
