package cli_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/studies"
)

// differing are the settings that the appendix has otherwise, or not at all; docs/guarantees.md gives the reason of each.
var differing = []string{
	"offset marked before delivery", "enable.auto.commit=false", "auto.commit.interval.ms=5000",
	"durable=false", "DurableName", "automatic Ack, Redelivered is passed over", "PublishAsync, AckHandler sends again",
}

// Table A.1 of Nilsson and Pregén, "Performance evaluation of message-oriented middleware" (KTH, 2020), setting by setting, as
// the study asks for it. What a cell says, and what its clients do by default, stands under same.
var appendix = map[string]struct{ same, differ []string }{
	"kafka ordered at-most-once": {
		[]string{"acks=0", "retries=0", "enable.idempotence=false", "max.in.flight.requests.per.connection=5", "enable.auto.commit=true", "auto.commit.interval.ms=5000", "replication.factor=1", "batch.size=16384", "linger.ms=0", "partitions=1"},
		[]string{"offset marked before delivery"},
	},
	"kafka unordered at-most-once": {
		[]string{"acks=0", "retries=0", "enable.idempotence=false", "max.in.flight.requests.per.connection=5", "enable.auto.commit=true", "auto.commit.interval.ms=5000", "replication.factor=1", "batch.size=16384", "linger.ms=0", "partitions=8"},
		[]string{"offset marked before delivery"},
	},
	"kafka ordered at-least-once": {
		[]string{"acks=1", "retries=1", "enable.idempotence=false", "max.in.flight.requests.per.connection=5", "offset marked after delivery", "replication.factor=1", "batch.size=16384", "linger.ms=0", "partitions=1"},
		[]string{"enable.auto.commit=false", "auto.commit.interval.ms=5000"},
	},
	"kafka unordered at-least-once": {
		[]string{"acks=1", "retries=1", "enable.idempotence=false", "max.in.flight.requests.per.connection=5", "offset marked after delivery", "replication.factor=1", "batch.size=16384", "linger.ms=0", "partitions=8"},
		[]string{"enable.auto.commit=false", "auto.commit.interval.ms=5000"},
	},
	"rabbitmq persistent at-most-once": {
		[]string{"confirm.select=false", "delivery_mode=2", "no-ack=true", "durable=true", "x-queue-type=classic", "partitions=1"}, nil,
	},
	"rabbitmq non-persistent at-most-once": {
		[]string{"confirm.select=false", "delivery_mode=1", "no-ack=true", "x-queue-type=classic", "partitions=1"},
		[]string{"durable=false"},
	},
	"rabbitmq persistent at-least-once": {
		[]string{"confirm.select=true, nacked messages are sent again", "delivery_mode=2", "no-ack=false", "durable=true", "x-queue-type=classic", "ack.every=1", "prefetch=0", "partitions=1"}, nil,
	},
	"rabbitmq non-persistent at-least-once": {
		[]string{"confirm.select=true, nacked messages are sent again", "delivery_mode=1", "no-ack=false", "x-queue-type=classic", "ack.every=1", "prefetch=0", "partitions=1"},
		[]string{"durable=false"},
	},
	"nats-streaming persistent at-most-once": {
		[]string{"PublishAsync, AckHandler does nothing", "streaming.store=file", "streaming.file.sync=true", "partitions=1"},
		[]string{"DurableName", "automatic Ack, Redelivered is passed over"},
	},
	"nats-streaming non-persistent at-most-once": {
		[]string{"PublishAsync, AckHandler does nothing", "streaming.store=memory", "partitions=1"},
		[]string{"DurableName", "automatic Ack, Redelivered is passed over"},
	},
	"nats-streaming persistent at-least-once": {
		[]string{"SetManualAckMode, Ack after delivery", "streaming.store=file", "streaming.file.sync=true", "partitions=1"},
		[]string{"PublishAsync, AckHandler sends again", "DurableName"},
	},
	"nats-streaming non-persistent at-least-once": {
		[]string{"SetManualAckMode, Ack after delivery", "streaming.store=memory", "partitions=1"},
		[]string{"PublishAsync, AckHandler sends again", "DurableName"},
	},
}

// Each of the twelve cells is as the appendix has it, or differs where docs/guarantees.md says so: there is no setting that
// stands in neither list.
func TestTheTwelveSettingsOfTheSecondStudyAreThoseOfItsAppendixOrDeclared(t *testing.T) {
	docs, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	_, declared, _ := strings.Cut(string(docs), "## Published settings")
	points := appendixPoints(t)
	if len(points) != len(appendix) || len(appendix) != 12 {
		t.Fatalf("the study has %d settings, the appendix %d", len(points), len(appendix))
	}
	for name, cell := range appendix {
		p, there := points[name]
		if !there {
			t.Errorf("the study has no setting %q", name)
			continue
		}
		got := settingsOf(t, p)
		for _, want := range slices.Concat(cell.same, cell.differ) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not among %s", name, want, strings.Join(got, ", "))
			}
		}
		for _, setting := range got {
			if !slices.Contains(cell.same, setting) && !slices.Contains(cell.differ, setting) {
				t.Errorf("%s: %s is neither in the appendix nor declared", name, setting)
			}
		}
		for _, setting := range cell.differ {
			if !slices.Contains(differing, setting) {
				t.Errorf("%s: %s is not among those with a reason", name, setting)
			}
		}
	}
	for _, setting := range differing {
		if !strings.Contains(declared, "| `"+setting+"` |") {
			t.Errorf("docs/guarantees.md gives no reason for %s", setting)
		}
	}
	kind, err := driver.Lookup("kafka")
	if err != nil {
		t.Fatal(err)
	}
	if kind.Supports(driver.Guarantee{Delivery: driver.AtMostOnce, Persistence: driver.Memory, Replicas: 1, Acks: driver.AcksNone, Ordering: driver.Ordered}) == nil {
		t.Error("Kafka, not persistent: kept, the table says that it isn't supported")
	}
}

// appendixPoints are the points of the second study's twelve settings, by broker, setting and guarantee, with today's versions
// at one size.
func appendixPoints(t *testing.T) map[string]study.Point {
	t.Helper()
	const name = "nilsson-pregen-2020"
	folder, err := studies.FS(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path.Join("../../studies", name, studies.Document))
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse(studies.Document, text)
	if err != nil {
		t.Fatal(err)
	}
	s.Files = folder
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]study.Point{}
	for _, p := range points {
		if a := p.Axes; a["when"] == "now" && p.Spec.MessageSize[0].Size == 4096 {
			cells[strings.TrimSpace(a["sweep"]+" "+a["order"]+a["store"]+" "+a["guarantee"])] = p
		}
	}
	return cells
}

// settingsOf are the native settings of a point: what the guarantee is kept by, with what the study sets itself in the place
// of its defaults.
func settingsOf(t *testing.T, p study.Point) []string {
	t.Helper()
	kind, err := driver.Lookup(p.Spec.Broker)
	if err != nil {
		t.Fatal(err)
	}
	g := driver.Guarantee{
		Delivery: driver.Delivery(p.Spec.Delivery), Persistence: driver.Persistence(p.Spec.Persistence), Replicas: p.Spec.Replicas,
		Acks: driver.Acks(p.Spec.Acks), Ordering: driver.Ordering(p.Spec.Ordering),
	}
	if err := kind.Supports(g); err != nil {
		t.Fatal(err)
	}
	own := maps.Clone(p.Spec.Client)
	if own == nil {
		own = map[string]any{}
	}
	maps.Copy(own, p.Spec.Server)
	var all []string
	for _, n := range kind.Maps(g) {
		if value, given := own[n.Name]; given {
			n.Value = fmt.Sprint(value)
			delete(own, n.Name)
		}
		all = append(all, n.String())
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, fmt.Sprintf("%s=%v", name, own[name]))
	}
	return append(all, fmt.Sprintf("partitions=%d", p.Spec.PartitionsPerTopic))
}
