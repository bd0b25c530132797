package fleet

import (
	"os"
	"strings"
)

// machine identifies this machine since its last boot, and on it the clock that this process reads and the processes that it
// knows by their numbers: namespaces may have others.
func machine(host string) (boot, clock, pids string) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return host, host, host
	}
	boot = strings.TrimSpace(string(id))
	of := func(namespace string) string {
		link, _ := os.Readlink("/proc/self/ns/" + namespace)
		return boot + " " + link
	}
	return boot, of("time"), of("pid")
}
