package driver

// When a consumer acknowledges a message to the broker: the values of AckSetting.
const (
	AckAuto   = "auto"   // as the guarantee's delivery requires
	AckBefore = "before" // before the application gets it; automatic acknowledgement
	AckAfter  = "after"  // after the application has processed it; manual acknowledgement
)

const ackSetting = "consumer.ack"

// AckSetting lets consumers acknowledge in another way than the guarantee's delivery requires. It is a setting of drivers whose
// protocol has both ways. The setting acks decides whether producers wait for the broker.
func AckSetting() Setting {
	return Setting{
		Scope: ClientScope, Name: ackSetting, Default: AckAuto, Allowed: []string{AckAuto, AckBefore, AckAfter},
		Doc: "whether consumers acknowledge a message before the application has it, or after it has worked on it; auto: before at most once, else after",
	}
}

// AcksAfter reports whether consumers acknowledge after the application has processed a message.
func AcksAfter(g Guarantee, client Values) bool {
	if when := client.String(ackSetting); when != AckAuto {
		return when == AckAfter
	}
	return g.Delivery != AtMostOnce
}

// WithoutAcks is the Setting.Idle of settings that matter only to consumers that acknowledge.
func WithoutAcks(g Guarantee, client Values) string {
	return If(!AcksAfter(g, client), "with consumer.ack: before, which at-most-once has unless asked otherwise, consumers acknowledge nothing")
}

// FitsAck refuses an acknowledgement mode that would break the guarantee g.
func FitsAck(g Guarantee, client Values) error {
	if g.Delivery != AtMostOnce && !AcksAfter(g, client) {
		return Unsupported(string(ClientScope)+"."+ackSetting+": "+AckBefore,
			"a message that is acknowledged before the application has it is lost with its consumer, which is at most once; %s needs %s", g.Delivery, AckAfter)
	}
	return nil
}
