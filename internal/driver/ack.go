package driver

// When a consumer acknowledges a message to the broker: the values of AckSetting.
const (
	AckAuto   = "auto"   // as the delivery that is asked for demands
	AckBefore = "before" // before the application has it; automatic acknowledgement
	AckAfter  = "after"  // when the application has worked on it; manual acknowledgement
)

const ackSetting = "consumer.ack"

// AckSetting lets a consumer acknowledge otherwise than its delivery demands, of drivers whose protocol has both ways. Whether
// producers wait for the broker is asked for by acks.
func AckSetting() Setting {
	return Setting{
		Scope: ClientScope, Name: ackSetting, Default: AckAuto, Allowed: []string{AckAuto, AckBefore, AckAfter},
		Doc: "whether consumers acknowledge a message before the application has it, or after it has worked on it; auto: before at most once, else after",
	}
}

// AcksAfter reports whether consumers acknowledge after the application has worked on a message.
func AcksAfter(g Guarantee, client Values) bool {
	if when := client.String(ackSetting); when != AckAuto {
		return when == AckAfter
	}
	return g.Delivery != AtMostOnce
}

// WithoutAcks is the Setting.Idle of what matters only to consumers that acknowledge.
func WithoutAcks(g Guarantee, client Values) string {
	return If(!AcksAfter(g, client), "with consumer.ack: before, which at-most-once has unless asked otherwise, consumers acknowledge nothing")
}

// FitsAck refuses an acknowledgement that gives away what g promises.
func FitsAck(g Guarantee, client Values) error {
	if g.Delivery != AtMostOnce && !AcksAfter(g, client) {
		return Unsupported(string(ClientScope)+"."+ackSetting+": "+AckBefore,
			"a message that is acknowledged before the application has it is lost with its consumer, which is at most once; %s needs %s", g.Delivery, AckAfter)
	}
	return nil
}
