package provision

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ports hands out TCP ports of 127.0.0.1. A port that nobody listens on yet is reserved (takePort): every tool on
// the machine sees that, and the reservation vanishes with its last holder, so nothing is left behind by a crash. The
// broker's supervisor inherits it.
type ports struct {
	Numbers map[string]int
	locks   []*os.File
}

const (
	lowestPort    = 15000
	portAttempts  = 500
	usualFirstDyn = 32768
)

// reservePorts reserves one port for each name; wanted ones are taken as asked or refused with *ErrPortInUse.
func reservePorts(names []string, wanted map[string]int) (*ports, error) {
	p := &ports{Numbers: map[string]int{}}
	for name := range wanted {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("no port is named %q; there are: %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		port, lock, err := reserve(name, wanted[name])
		if err != nil {
			p.release()
			return nil, err
		}
		p.Numbers[name] = port
		p.locks = append(p.locks, lock)
	}
	return p, nil
}

func reserve(name string, wanted int) (int, *os.File, error) {
	if wanted != 0 {
		lock := lockPort(wanted)
		if lock == nil {
			return 0, nil, &ErrPortInUse{Name: name, Port: wanted}
		}
		return wanted, lock, nil
	}
	// Below the range from which the kernel takes ports for outgoing connections: one of those could grab ours
	// between our look and the broker's bind, or while a killed broker is down.
	high := firstDynamicPort()
	for range portAttempts {
		port := lowestPort + rand.IntN(high-lowestPort)
		if lock := lockPort(port); lock != nil {
			return port, lock, nil
		}
	}
	return 0, nil, errors.New("no free port found on 127.0.0.1 for " + name)
}

// lockPort is nil where the port is reserved or listened on.
func lockPort(port int) *os.File {
	lock := takePort(port)
	if lock == nil {
		return nil
	}
	// All addresses: some brokers bind a helper port to every interface whatever they are told.
	probe, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		lock.Close()
		return nil
	}
	probe.Close()
	return lock
}

func (p *ports) release() {
	for _, l := range p.locks {
		l.Close()
	}
	p.locks = nil
}

func firstDynamicPort() int {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		if f := strings.Fields(string(b)); len(f) == 2 {
			if n, err := strconv.Atoi(f[0]); err == nil && n > lowestPort+1000 {
				return n
			}
		}
	}
	return usualFirstDyn
}
