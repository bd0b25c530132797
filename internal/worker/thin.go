package worker

// Thinned keeps an evenly spread part of a sequence that may go on for days: at most Limit values. It keeps all values at first.
// Whenever Limit is reached it drops every second one, and from then on keeps only every second, fourth, eighth … new value. It
// never averages values. Limit must be even; set it before the first Add.
//
// With a Limit of 4, for example, the values 1 to 9 leave 1, 3, 5, 7 and then 1, 5, 9.
type Thinned[T any] struct {
	Limit int
	kept  []T
	step  int // every step-th value is kept
	seen  int // values so far, kept or not
}

// Add takes the next value of the sequence.
func (t *Thinned[T]) Add(v T) {
	t.step = max(t.step, 1)
	if t.seen%t.step == 0 && len(t.kept) == t.Limit {
		t.dropEverySecond()
	}
	if t.seen%t.step == 0 {
		t.kept = append(t.kept, v)
	}
	t.seen++
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
