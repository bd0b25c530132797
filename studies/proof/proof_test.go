package proof_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/studies/proof"
)

// toy keeps everything but exactly once, in memory on a single node only.
func toy(name string) driver.Kind {
	return driver.Kind{
		Name: name,
		Supports: func(g driver.Guarantee) error {
			switch {
			case g.Delivery == driver.ExactlyOnce, g.Acks == driver.AcksNone != (g.Delivery == driver.AtMostOnce),
				g.Persistence == driver.Fsync && g.Acks == driver.AcksNone, g.Replicas > 1 && g.Persistence == driver.Memory:
				return errors.New("no")
			}
			return nil
		},
	}
}

func points(t *testing.T, name string, brokers ...proof.Broker) []string {
	t.Helper()
	data, err := proof.Write(name, brokers...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse(name+".yaml", data)
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	list, err := s.Points()
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	var texts []string
	for _, p := range list {
		f := p.Spec.Faults[0]
		text := fmt.Sprint(p.Spec.Broker, p.Spec.Version, " ", p.Spec.Delivery, " ", p.Spec.Persistence, " ", p.Spec.Acks, " ", p.Spec.Replicas, "/", p.Spec.Nodes, " ", f.Do, " ", f.Node)
		texts = append(texts, text)
	}
	return texts
}

func TestEveryGuaranteeThatIsKeptIsTried(t *testing.T) {
	got := points(t, "proof/toy", proof.Broker{Kind: toy("toy"), Version: "1.2", MaxNodes: 3})
	want := []string{
		"toy1.2 at-most-once log none 1/1 kill 1",
		"toy1.2 at-most-once log none 1/1 pause 1",
		"toy1.2 at-most-once log none 1/1 restart 1",
		"toy1.2 at-most-once memory none 1/1 kill 1",
		"toy1.2 at-least-once log leader 1/1 kill 1",
		"toy1.2 at-least-once log leader 1/1 pause 1",
		"toy1.2 at-least-once log leader 1/1 restart 1",
		"toy1.2 at-least-once fsync leader 1/1 kill 1",
		"toy1.2 at-least-once memory leader 1/1 kill 1",
		"toy1.2 at-least-once log quorum 3/3 kill leader",
	}
	if !slices.Equal(got, want) {
		t.Errorf("points\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOneStudyHoldsSeveralBrokers(t *testing.T) {
	both := points(t, "proof", proof.Broker{Kind: toy("a"), MaxNodes: 1}, proof.Broker{Kind: toy("b"), MaxNodes: 2})
	if n := len(both); n != 9+10 || !strings.HasPrefix(both[0], "a ") || !strings.HasSuffix(both[n-1], "quorum 2/2 kill leader") {
		t.Errorf("%d points:\n%s", n, strings.Join(both, "\n"))
	}
}

func TestNamesOfTheStudy(t *testing.T) {
	for name, want := range map[string]string{
		"proof": "  true", "proof/kafka": "kafka  true", "proof/kafka@3.9.2": "kafka 3.9.2 true",
		"proof/": "  false", "proofs": "  false", "head-to-head": "  false",
	} {
		broker, version, ok := proof.Parse(name)
		if got := fmt.Sprint(broker, " ", version, " ", ok); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := proof.Names([]string{"b", "a"}); !slices.Equal(got, []string{"proof", "proof/pipeline", "proof/a", "proof/b"}) {
		t.Error(got)
	}
}

// Every part of the pipeline that a fault can be aimed at is killed and paused.
func TestThePipelinesProofBreaksEveryPart(t *testing.T) {
	s, err := study.Parse("pipeline.yaml", proof.Pipeline)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Points()
	if err != nil || s.Name != proof.OfPipeline {
		t.Fatal(s.Name, err)
	}
	done := map[string]bool{}
	for _, p := range list {
		f := p.Spec.Faults[0]
		done[f.Do+" "+strings.TrimSuffix(f.Node, "-1")] = true
		done[p.Spec.Broker], done[p.Spec.Pipeline.Balancer], done[p.Spec.Pipeline.State] = true, true, true
	}
	for _, want := range []string{
		"kill server", "pause server", "kill balancer", "pause balancer", "kill consumer", "pause consumer", "kill 1", "pause 1",
		"rabbitmq", "kafka", "jetstream", "redis", "pulsar", "haproxy", "nginx", "sqlite", "postgres",
	} {
		if !done[want] {
			t.Errorf("no point has %s", want)
		}
	}
}
