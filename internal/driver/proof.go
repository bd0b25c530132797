package driver

// Proof is a way to show on a running broker that it keeps a guarantee.
type Proof string

// The proofs; internal/driver/drivertest carries them out.
const (
	// ProofLedger sends and receives without faults: every message arrives once, and in order if order is required.
	ProofLedger Proof = "ledger"
	// ProofKill kills the broker with SIGKILL while messages wait in it and more are on their way, and restarts it: every
	// acknowledged message is delivered, and none twice unless the guarantee is at-least-once. The operating system survives, so
	// this shows that messages were handed to it, not that they were on the disk.
	ProofKill Proof = "kill -9"
	// ProofFlush counts the flushes (fsync, fdatasync, msync) of the broker's processes while messages are sent one at a time: at
	// least one for each acknowledgement, on each node whose copy it waits for.
	ProofFlush Proof = "flushes counted"
	// ProofLeader is ProofKill with several copies: the leader is killed and stays down, and messages that a quorum acknowledged
	// are read from the other nodes.
	ProofLeader Proof = "leader killed"
)

// Spread is the number of nodes that a cluster needs for this number of copies.
func (k Kind) Spread(replicas int) int {
	if k.Nodes == nil {
		return max(1, replicas)
	}
	return k.Nodes(replicas)
}

// Proofs are the proofs that k must pass for g.
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
