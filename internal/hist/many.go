package hist

// RecordMany counts a value n times, for histograms that are rebuilt from a published table. n of 0 and below counts
// nothing.
func (h *Histogram) RecordMany(ns, n int64) {
	if n <= 0 {
		return
	}
	ns = max(ns, 0)
	h.Flush(&Batch{index(ns), n, ns, ns})
}
