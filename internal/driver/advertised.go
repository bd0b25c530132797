package driver

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// Clients of many brokers connect to an address only to be told others, of the nodes that have what they ask for. Where those can't be reached,
// a client tries again and again, and says no more than that it could not dial.

const advertisedBudget = 4 * time.Second // until an address that the broker tells of has to answer

// Advertised finds out whether the addresses that a broker tells its clients can be reached from here: it returns an *ErrConnect for each that
// can't, within a few seconds. by is the address that it told them at, and setting is the broker's that decides what it tells. Addresses that
// are in given are known to be reached, or not, by who was given them.
func Advertised(ctx context.Context, broker, by, setting string, given, told []string) error {
	ctx, cancel := context.WithTimeout(ctx, advertisedBudget)
	defer cancel()
	told = slices.Compact(slices.Sorted(slices.Values(told)))
	told = slices.DeleteFunc(told, func(address string) bool { return slices.Contains(given, address) })
	errs := make([]error, len(told))
	var all sync.WaitGroup
	for i, address := range told {
		all.Go(func() {
			if err := reachable(ctx, address); err != nil {
				errs[i] = &ErrConnect{Broker: broker, Address: address, Obstacle: Misled, Detail: setting, By: by, Err: err}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// reachable tries until ctx ends: a node that is coming up may be known before it listens.
func reachable(ctx context.Context, address string) error {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
			if ctx.Err() != nil {
				return err
			}
		}
	}
}
