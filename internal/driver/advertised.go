package driver

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// Clients of many brokers connect to one address and receive the addresses of other nodes from it. If those can't be reached, a
// client keeps trying and only reports that it could not dial.

const advertisedBudget = 4 * time.Second // time for an advertised address to answer

// Advertised checks whether the addresses that a broker advertises can be reached from here. It returns an *ErrConnect for each
// that can't, within a few seconds. by is the address of the broker that advertised them, and setting is the broker's setting
// that decides which addresses it advertises. Addresses in given are not checked.
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

// reachable tries until ctx ends: a node that is starting may be advertised before it listens.
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
