package worker

// Thinned keeps an evenly spread part of a sequence of values that may go on for days, in constant memory. It keeps all values
// until they reach its limit. Then it drops every second one, and from then on keeps only every second new value, later every
// fourth, eighth and so on. It never averages values.
//
// NewThinned makes one. With a limit of 4, the values 1 to 4 are all kept; after value 5, 1, 3 and 5 are left; after value 9, 1,
// 5 and 9.
type Thinned[T any] struct {
	limit int
	kept  []T
	step  int // every step-th value is kept
	added int // values so far, kept or not
}

// NewThinned returns a Thinned that keeps at most limit values, which must be at least 1.
func NewThinned[T any](limit int) Thinned[T] { return Thinned[T]{limit: limit, step: 1} }

// Add takes the next value of the sequence.
func (t *Thinned[T]) Add(v T) {
	if t.added%t.step == 0 && len(t.kept) == t.limit {
		t.dropEverySecond()
	}
	if t.added%t.step == 0 { // step may have changed
		t.kept = append(t.kept, v)
	}
	t.added++
}

func (t *Thinned[T]) dropEverySecond() {
	half := (len(t.kept) + 1) / 2
	for i := range half {
		t.kept[i] = t.kept[2*i]
	}
	t.kept = t.kept[:half]
	t.step *= 2
}

// Values returns the values that were kept, in order. They are valid until the next Add.
func (t *Thinned[T]) Values() []T { return t.kept }
