package natscore

import (
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/maker"
	"github.com/brokermark/brokermark/internal/provision"
)

// locks are the modules that nats-bench is built of, with their SHA-256.
//
//go:embed locks
var locks embed.FS

// natsBench returns nats-bench, an example of the Go client.
func natsBench() maker.Tool {
	return maker.Tool{
		Name: "nats-bench",
		Recipe: provision.Recipe{
			Versions: []provision.Version{{Name: "1.55.0", Needs: []provision.Need{{Command: "go", Apt: []string{"golang-go"}}}}},
			Install: func(ctx context.Context, i *provision.Install) error {
				return i.GoInstall(ctx, locks, "github.com/nats-io/nats.go/examples/nats-bench")
			},
		},
		Command: func(install, _ string, args []string) (provision.Command, error) {
			return provision.Command{Path: filepath.Join(install, "bin", "nats-bench"), Args: args}, nil
		},
		Arguments: natsBenchArguments,
		Read:      readNatsBench,
	}
}

func natsBenchArguments(p maker.Point) ([]string, error) {
	switch {
	case p.Messages == 0:
		return nil, driver.Unsupported("measure", "the tool sends a number of messages; allowed: measure: count")
	case p.Rate > 0:
		return nil, driver.Unsupported(fmt.Sprintf("load.rate: %v", p.Rate), "the tool sends as fast as it can; allowed: 0")
	case p.Windowed:
		return nil, driver.Unsupported(fmt.Sprintf("inFlight.messages: %d", p.InFlight), "core NATS confirms nothing, and the tool bounds nothing")
	case p.Consumers > 1:
		return nil, driver.Unsupported(fmt.Sprintf("consumerPerSubscription: %d", p.Consumers), "every subscriber of the tool gets every message; subscriptionsPerTopic asks for that")
	}
	if err := p.Only(); err != nil {
		return nil, err
	}
	var servers []string
	for _, address := range p.Addresses {
		servers = append(servers, "nats://"+address)
	}
	return []string{
		"-s", strings.Join(servers, ","), "-np", strconv.Itoa(p.Producers), "-ns", strconv.Itoa(len(p.Subscriptions)),
		"-n", strconv.FormatInt(p.Messages, 10), "-ms", strconv.Itoa(p.Size), p.Topic,
	}, nil
}

var (
	natsBenchPub = regexp.MustCompile(`(?:^| )Pub stats: ([\d,]+) msgs/sec`)
	natsBenchSub = regexp.MustCompile(`(?:^| )Sub stats: ([\d,]+) msgs/sec`)
)

// readNatsBench reads the rates of publishers and subscribers, of all messages from the first to the last. With both, the tool also prints
// one rate of both together, which counts every message once for each of them.
func readNatsBench(p maker.Point, o *maker.Output) maker.Figures {
	f := maker.Figures{SendRate: o.Number(o.Last(natsBenchPub)[1])}
	if len(p.Subscriptions) > 0 {
		f.ReceiveRate = o.Number(o.Last(natsBenchSub)[1])
	}
	return f
}
