package study

func (v *validator) backlog() {
	b := v.spec.Backlog
	v.amount("backlog", b.Messages, b.Bytes)
	v.share("backlog.drainRatio", b.DrainRatio, 0, closed)
	switch hasRate := v.given.has("backlog.rate"); {
	case hasRate && !b.KeepSending:
		v.fail("backlog.rate", "not used by backlog.keepSending: false")
	case hasRate:
		v.rate("backlog.rate", b.Rate)
	case b.KeepSending && !v.given.has("load.rate"):
		v.fail("backlog.keepSending", "without load.rate; add the rate at which producers go on while consumers drain")
	}
	if d, ok := v.given.given["duration"]; ok && b.DrainRatio > 0 && !d.soft && d.rank >= v.given.given["measure"].rank {
		v.fail("duration", "not used by backlog.drainRatio: %s: it ends when that share is gone; allowed with drainRatio: 0", inWords(b.DrainRatio))
	}
	if v.spec.SubscriptionsPerTopic == 0 {
		v.fail("subscriptionsPerTopic", "0 with measure: backlog: there would be no consumer to drain it")
	}
	v.lagging()
}

// lagging checks which consumers have the backlog.
func (v *validator) lagging() {
	s := v.spec
	part := ""
	for _, p := range []struct {
		path   string
		n, all int
	}{{"backlog.topics", s.Backlog.Topics, s.Topics}, {"backlog.subscriptions", s.Backlog.Subscriptions, s.SubscriptionsPerTopic}} {
		if v.given.has(p.path) && v.between(p.path, p.n, 1, max(1, p.all)) && p.n < p.all {
			part = p.path
		}
	}
	switch {
	case part == "":
	case !s.Backlog.KeepSending:
		v.fail(part, "the other consumers would receive nothing while the backlog drains; add backlog.rate, or load.rate with backlog.keepSending")
	case s.Backlog.Topics > 0 && s.Backlog.Topics < s.Topics && s.Connections > 0:
		v.fail("backlog.topics", "can't be combined with connections: %d, where one consumer receives several topics; allowed with connections: 0", s.Connections)
	}
}

// amount checks that a number of messages or bytes is given, and only one of them.
func (v *validator) amount(group string, messages int64, bytes Size) {
	byBytes := v.given.has(group + ".bytes")
	if byBytes && v.given.has(group+".messages") {
		v.fail(group+".bytes", "given beside %s.messages; allowed: one of them", group)
		return
	}
	if !byBytes {
		v.within(group+".messages", int(messages), 1)
		return
	}
	if largest := v.spec.MessageSize.Largest(); bytes < largest || bytes > maxBytes {
		v.fail(group+".bytes", "%s is out of range; allowed: one message (%s) to %s", bytesText(bytes), bytesText(largest), Size(maxBytes))
	}
}
