package clock

// Possible reports whether clocks that are off by at most bound ns can show a latency of ns. No message arrives before it is
// sent, so a latency can be negative by the bound at most. If one is more negative, the bound is wrong, and the trial is void.
// A latency that is negative but possible counts like any other.
func Possible(ns, bound int64) bool { return ns >= -bound }
