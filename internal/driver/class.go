package driver

// Class groups settings of different clients that have the same meaning under different names. One principle decides about the
// defaults of all settings of a class (decision 043).
type Class string

// Classes in the order in which they are shown.
const (
	Acknowledging Class = "acknowledgements of consumers"
	Prefetching   Class = "window of consumers"
	Publishing    Class = "window of producers"
	Batching      Class = "batches of producers"
	Threading     Class = "threads of the generator"
)

// Classes are all classes.
var Classes = []Class{Acknowledging, Prefetching, Publishing, Batching, Threading}

// Principle is the rule for the defaults of a class.
func (c Class) Principle() string {
	return map[Class]string{
		Acknowledging: "Consumers acknowledge as the library does by itself where it gathers acknowledgements, and what each call brought, one by one, where it doesn't.",
		Prefetching:   "A consumer is given at least 1,000 messages ahead, or what the library has as its default where that is more or is counted otherwise.",
		Publishing:    "What a producer may have in flight is the run's (inFlight); no window of client or broker comes before it, unless the broker's makers advise against a large one.",
		Batching:      "A client that waits for more messages waits for 1 ms; how large a batch may get is a bound, not a wait.",
		Threading:     "The load decides about threads, not the broker. A driver that is tuned may ask for fewer.",
	}[c]
}
