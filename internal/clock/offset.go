package clock

import (
	"errors"
	"fmt"
	"math"
)

// Ping is one exchange with a peer: sent and received on our axis, arrived and answered on the peer's, all in ns.
type Ping struct {
	Sent, Arrived, Answered, Received int64
}

// Offset places a peer's axis on ours: peer time = our time + Ns, give or take Bound.
type Offset struct {
	Ns, Bound int64
}

// EstimateOffset narrows the peer's offset as far as the exchanges allow. Since no message arrives before it is sent,
// each says
//
//	Answered − Received ≤ offset ≤ Arrived − Sent
//
// and the truth lies in all these intervals, however unequal the two ways are. The quickest exchange (the one NTP's
// clock filter keeps, RFC 5905 §10) bounds it by half its round trip; two exchanges quick in one way each, by less.
// Axes that drifted apart meanwhile leave no common interval; Bound then also covers the gap. Do the exchanges within
// a second or so, a hundred of them.
func EstimateOffset(pings []Ping) (Offset, error) {
	if len(pings) == 0 {
		return Offset{}, errors.New("clock offset: no exchange with the peer")
	}
	lo, hi, quickest := int64(math.MinInt64), int64(math.MaxInt64), int64(math.MaxInt64)
	for i, p := range pings {
		if p.Received < p.Sent || p.Answered < p.Arrived {
			return Offset{}, fmt.Errorf("clock offset: exchange %d goes back in time: %+v", i, p)
		}
		lo = max(lo, p.Answered-p.Received)
		hi = min(hi, p.Arrived-p.Sent)
		quickest = min(quickest, (p.Received-p.Sent)-(p.Answered-p.Arrived))
	}
	middle := lo + (hi-lo)/2
	if lo > hi {
		return Offset{middle, (lo-hi+1)/2 + max(0, quickest+1)/2}, nil
	}
	return Offset{middle, (hi - lo + 1) / 2}, nil
}
