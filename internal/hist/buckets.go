package hist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// buckets are those buckets of a histogram that are not empty, by rising index, packed as unsigned varints. Each has two: its distance
// from the one before (the first counts from bucket −1), and its count. So 5 values in bucket 2 and 7 in bucket 3 are the bytes 3 5 1 7.
// Reports hold thousands of histograms of hundreds of buckets: most take two or three bytes.
type buckets []byte

// bucket is one of buckets, with the way to the next:
//
//	for b := all.first(); b.ok; b.next() {
type bucket struct {
	index int
	count int64 // how many values it holds
	ok    bool  // false: there is no further one
	left  buckets
}

func (all buckets) first() bucket {
	b := bucket{index: -1, left: all}
	b.next()
	return b
}

func (b *bucket) next() {
	if b.ok = len(b.left) > 0; !b.ok {
		return
	}
	step, stepSize := binary.Uvarint(b.left)
	count, countSize := binary.Uvarint(b.left[stepSize:])
	b.index, b.count, b.left = b.index+int(step), int64(count), b.left[stepSize+countSize:]
}

// extent says how many values buckets hold, and which are the first and the last of them.
type extent struct {
	n           int64
	first, last int
}

func (all buckets) extent() (e extent) {
	e.first = all.first().index
	for b := all.first(); b.ok; b.next() {
		e.n, e.last = e.n+b.count, b.index
	}
	return e
}

// check is extent of bytes that a packer may not have made. It refuses buckets that don't exist or don't rise, and counts that don't fit
// into an int64.
func (all buckets) check() (e extent, err error) {
	var total uint64
	for e.last = -1; len(all) > 0; {
		step, stepSize := binary.Uvarint(all)
		count, countSize := binary.Uvarint(all[max(stepSize, 0):])
		if stepSize <= 0 || countSize <= 0 {
			return extent{}, errors.New("a number is cut short, or of more than 64 bits")
		}
		if step == 0 || step > uint64(overflow-e.last) {
			return extent{}, fmt.Errorf("step %d after bucket %d, allowed 1 to %d", step, e.last, overflow-e.last)
		}
		if count == 0 || count > math.MaxInt64-total {
			return extent{}, fmt.Errorf("count %d after %d, allowed 1 to %d in all", count, total, int64(math.MaxInt64))
		}
		if all[stepSize-1] == 0 || all[stepSize+countSize-1] == 0 {
			return extent{}, errors.New("a number has more bytes than it needs")
		}
		if total == 0 {
			e.first = int(step) - 1
		}
		all = all[stepSize+countSize:]
		e.last += int(step)
		total += count
	}
	e.n = int64(total)
	return e, nil
}

// packer makes buckets.
type packer struct {
	packed buckets
	after  int // the index after that of the last bucket
}

// add appends a bucket, unless its count is 0. Its index is higher than that of those before.
func (p *packer) add(index int, count int64) {
	if count <= 0 {
		return
	}
	p.packed = binary.AppendUvarint(p.packed, uint64(index-p.after+1))
	p.packed = binary.AppendUvarint(p.packed, uint64(count))
	p.after = index + 1
}

// ranked returns the bucket that holds the value of a rank; the last one if they hold fewer.
func (all buckets) ranked(rank int64) bucket {
	b := all.first()
	for rank -= b.count; rank > 0 && len(b.left) > 0; rank -= b.count {
		b.next()
	}
	return b
}

// count returns how many values the buckets hold.
func (all buckets) count() int64 { return all.extent().n }

// plus returns the sum of both, bucket by bucket.
func (all buckets) plus(other buckets) buckets {
	if len(all)+len(other) == 0 {
		return nil
	}
	merged := packer{packed: make(buckets, 0, len(all)+len(other))}
	for a, b := all.first(), other.first(); a.ok || b.ok; {
		switch {
		case !b.ok || a.ok && a.index < b.index:
			merged.add(a.index, a.count)
			a.next()
		case !a.ok || b.index < a.index:
			merged.add(b.index, b.count)
			b.next()
		default:
			merged.add(a.index, a.count+b.count)
			a.next()
			b.next()
		}
	}
	return merged.packed
}

// less returns the buckets that hold more values than in other, with how many more.
func (all buckets) less(other buckets) buckets {
	if len(other) == 0 {
		return all
	}
	var left packer
	o := other.first()
	for b := all.first(); b.ok; b.next() {
		for o.ok && o.index < b.index {
			o.next()
		}
		if o.ok && o.index == b.index {
			b.count -= o.count
		}
		left.add(b.index, b.count)
	}
	return left.packed
}
