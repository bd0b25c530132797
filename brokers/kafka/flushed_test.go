package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestExactlyOnceWithFsyncFlushesCommitsOrIsRefused(t *testing.T) {
	testkit.Long(t)
	g := livetest.Guarantee(driver.ExactlyOnce, driver.Fsync, driver.AcksQuorum, driver.Unordered)
	flushed, err := completed(g, map[string]any{"num.io.threads": 4})
	if err != nil || flushed[flushAll] != 1 || flushed["num.io.threads"] != 4 {
		t.Errorf("started with %v, %v", flushed, err)
	}
	var refused *driver.ErrUnsupported
	if _, err := completed(g, map[string]any{flushAll: 100}); !errors.As(err, &refused) {
		t.Errorf("a rarer flush: %v", err)
	}
	logged := g
	logged.Persistence = driver.Log
	if got, err := completed(logged, nil); err != nil || len(got) > 0 {
		t.Errorf("without fsync: %v, %v", got, err)
	}
	for _, c := range []struct {
		server map[string]any
		says   string
	}{{nil, "a commit must be flushed, too"}, {flushed, ""}} {
		_, target := livetest.Start(t, provision.Options{Broker: "kafka", Server: c.server})
		client, err := driver.Decode(settings, driver.ClientScope, nil)
		livetest.Must(t, err)
		topic, err := driver.Decode(settings, driver.TopicScope, nil)
		livetest.Must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		d, err := open(ctx, driver.Config{Target: target, Guarantee: g, Client: client, Topic: topic})
		if err == nil {
			d.Close()
		}
		switch {
		case c.says == "" && err != nil:
			t.Errorf("with %v: %v", c.server, err)
		case c.says != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("with %v: %v", c.server, err)
		}
	}
}
