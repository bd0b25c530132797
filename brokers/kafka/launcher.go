package kafka

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/provision"
)

const (
	launcher = "kafka-on-zookeeper"
	then     = "--" // separates the two command lines
)

func init() { provision.RegisterProgram(launcher, launch) }

// launch is called with NUMBER ZOOKEEPER OPTIONS… -- OPTIONS…: it starts ZooKeeper, waits until that has forgotten the broker of
// this number, and becomes Kafka. A killed broker stays registered for the rest of its session (zookeeper.session.timeout.ms),
// and its successor would end at once because its number is taken.
func launch(args []string) int {
	at := slices.Index(args, then)
	if at < 2 {
		fmt.Fprintln(os.Stderr, "too few arguments to", launcher)
		return 2
	}
	java, err := exec.LookPath("java")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	zoo := exec.Command(java, args[2:at]...)
	zoo.Stdout, zoo.Stderr = os.Stdout, os.Stderr
	if err := zoo.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "start ZooKeeper:", err)
		return 1
	}
	ended := make(chan error, 1)
	go func() { ended <- zoo.Wait() }()
	for !vacant(args[1], args[0]) {
		select {
		case err := <-ended:
			fmt.Fprintln(os.Stderr, "ZooKeeper has ended:", err)
			return 1
		case <-time.After(pollInterval):
		}
	}
	fmt.Fprintln(os.Stderr, "start Kafka:", syscall.Exec(java, append([]string{"java"}, args[at+1:]...), os.Environ()))
	return 1
}

// vacant reports whether the ZooKeeper at address serves, and has no broker of that number.
func vacant(address, number string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "dump"); err != nil {
		return false
	}
	answer, err := bounded.All(conn, 16<<20)
	return err == nil && isVacant(string(answer), number)
}

// isVacant reads ZooKeeper's list of sessions and of what ends with them; without the list it doesn't serve yet.
func isVacant(dump, number string) bool {
	lines := strings.Fields(dump)
	return strings.Contains(dump, "Sessions with Ephemerals") && !slices.Contains(lines, "/brokers/ids/"+number)
}
