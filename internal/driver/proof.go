package driver

// Proof is a way to show, on a running broker, that a guarantee is kept.
type Proof string

// The proofs; internal/driver/drivertest carries them out.
const (
	// ProofLedger sends and receives with nobody disturbing: every message once, in order where order was asked for.
	ProofLedger Proof = "ledger"
	// ProofKill kills the broker with SIGKILL while messages wait in it and more are on their way, and starts it again:
	// what it had acknowledged is delivered, and nothing twice unless at-least-once was asked for. The operating system
	// survives, so this shows that messages were handed to it, not that they were on the disk.
	ProofKill Proof = "kill -9"
	// ProofFlush counts the flushes (fsync, fdatasync, msync) that the broker's processes ask of the operating system
	// while messages are sent one at a time: at least one for each acknowledgement, on each node whose copy it waits for.
	ProofFlush Proof = "flushes counted"
	// ProofLeader is the same with several copies: the node that leads is killed and stays down, and what a quorum had
	// acknowledged is read from those that are left.
	ProofLeader Proof = "leader killed"
)

// Spread is how many nodes a cluster needs that keeps so many copies.
func (k Kind) Spread(replicas int) int {
	if k.Nodes == nil {
		return max(1, replicas)
	}
	return k.Nodes(replicas)
}

// Proofs are those that k owes for g.
func (k Kind) Proofs(g Guarantee) []Proof {
	owed := []Proof{ProofLedger}
	if g.Persistence != Memory && (g.Replicas == 1 || !k.Failover) {
		owed = append(owed, ProofKill)
	}
	if g.Persistence == Fsync {
		owed = append(owed, ProofFlush)
	}
	if g.Replicas > 1 && g.Acks == AcksQuorum && k.Failover {
		owed = append(owed, ProofLeader)
	}
	return owed
}
