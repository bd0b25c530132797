package provision

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

func TestABrokerOfItsOwnProgramsStartsOnlyWhereItsOrphansAreAdopted(t *testing.T) {
	inside := &Recipe{Broker: "nats"}
	outside := &Recipe{Broker: "kafka", Install: func(context.Context, *Install) error { return nil }}
	for _, r := range []*Recipe{inside, outside} {
		if err := r.startsHere(true); err != nil {
			t.Errorf("%s is refused where the kernel adopts orphans: %v", r.Broker, err)
		}
	}
	if err := inside.startsHere(false); err != nil {
		t.Errorf("what is inside this binary is refused: %v", err)
	}
	if err := outside.startsHere(false); err == nil || !strings.Contains(err.Error(), "name its address with --attach") {
		t.Errorf("got %v, want a refusal that names --attach", err)
	}
}

func TestPortsBesideAnotherAreReservedWithIt(t *testing.T) {
	beside := map[string][]int{"client": {-2}}
	first, err := reservePorts([]string{"client"}, beside, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.release()
	below := first.Numbers["client"] - 2
	for name, wanted := range map[string]int{"the port beside": below, "one whose own would be it": below + 2} {
		var taken *ErrPortInUse
		second, err := reservePorts([]string{"client"}, beside, map[string]int{"client": wanted})
		if !errors.As(err, &taken) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			second.release()
		}
	}
	first.release()
	again, err := reservePorts([]string{"client"}, beside, map[string]int{"client": below + 2})
	if err != nil {
		t.Fatal(err)
	}
	again.release()
}

func TestAPortIsReservedUntilItsLockIsClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if lock := lockPort(port); lock != nil {
		t.Errorf("port %d was reserved although somebody listens on it", port)
	}
	l.Close()
	lock := lockPort(port)
	if lock == nil {
		t.Fatalf("port %d could not be reserved", port)
	}
	if again := lockPort(port); again != nil {
		t.Errorf("port %d was reserved twice", port)
	}
	lock.Close()
	lock = lockPort(port)
	if lock == nil {
		t.Fatalf("port %d stayed reserved", port)
	}
	lock.Close()
}
