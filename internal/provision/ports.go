package provision

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
)

// ports reserves TCP ports of 127.0.0.1. A port without a listener is reserved by takePort: every tool on the machine sees the
// reservation, which ends with its last holder, so a crash leaves nothing behind. The broker's supervisor inherits it.
type ports struct {
	Numbers map[string]int
	locks   []*os.File
}

const (
	lowestPort    = 15000
	portAttempts  = 500
	usualFirstDyn = 32768
)

// reservePorts reserves one port for each name, with those beside it. If wanted names a port, it is that port or the error *ErrPortInUse.
func reservePorts(names []string, beside map[string][]int, wanted map[string]int) (*ports, error) {
	p := &ports{Numbers: map[string]int{}}
	for _, name := range names {
		port, locks, err := reserve(name, beside[name], wanted[name])
		if err != nil {
			p.release()
			return nil, err
		}
		p.Numbers[name] = port
		p.locks = append(p.locks, locks...)
	}
	return p, nil
}

func reserve(name string, beside []int, wanted int) (int, []*os.File, error) {
	if wanted != 0 {
		locks, taken := lockPorts(wanted, beside)
		if taken != 0 {
			return 0, nil, &ErrPortInUse{Name: name, Port: taken}
		}
		return wanted, locks, nil
	}
	// Below the range from which the kernel takes ports for outgoing connections: such a connection could take our port
	// between the check and the broker's bind, or while a killed broker is down.
	high := firstDynamicPort()
	for range portAttempts {
		port := lowestPort + rand.IntN(high-lowestPort)
		if locks, taken := lockPorts(port, beside); taken == 0 {
			return port, locks, nil
		}
	}
	return 0, nil, errors.New("no free port found on 127.0.0.1 for " + name)
}

// lockPorts reserves a port and those beside it, or none of them: taken is then the port in use.
func lockPorts(port int, beside []int) (locks []*os.File, taken int) {
	for _, distance := range append([]int{0}, beside...) {
		lock := lockPort(port + distance)
		if lock == nil {
			for _, l := range locks {
				l.Close()
			}
			return nil, port + distance
		}
		locks = append(locks, lock)
	}
	return locks, 0
}

// lockPort returns nil if the port is reserved or in use.
func lockPort(port int) *os.File {
	lock := takePort(port)
	if lock == nil {
		return nil
	}
	// All addresses: some brokers bind a helper port to every interface regardless of their settings.
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
	bounds, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range") // "32768	60999"
	var first int
	if _, err := fmt.Sscan(string(bounds), &first); err == nil && first > lowestPort+1000 {
		return first
	}
	return usualFirstDyn
}
