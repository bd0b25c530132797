package pulsar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
)

// leader is the node whose broker owns most of the run's topics; without topics, the one whose broker balances the load.
func leader(ctx context.Context, c *provision.Cluster) (int, error) {
	a := adminOf(c.Nodes...)
	defer a.close()
	owned, err := owners(ctx, a, c)
	if err != nil {
		return 0, err
	}
	best := 0
	for _, n := range c.Nodes {
		if owned[n.ID] > owned[best] {
			best = n.ID
		}
	}
	if best > 0 {
		return best, nil
	}
	var first struct{ ServiceURL string }
	if err := a.do(ctx, http.MethodGet, "brokers/leaderBroker", nil, &first); err != nil {
		return 0, err
	}
	if n := nodeAt(c, first.ServiceURL, webPort); n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("the leading broker is at %s, which is no node of %s", first.ServiceURL, c.ID)
}

// owners counts topics by node.
func owners(ctx context.Context, a *admin, c *provision.Cluster) (map[int]int, error) {
	var namespaces []string
	if err := a.do(ctx, http.MethodGet, "namespaces/"+publicTenant, nil, &namespaces); err != nil {
		return nil, err
	}
	owned := map[int]int{}
	for _, namespace := range namespaces {
		if !strings.HasPrefix(namespace, publicTenant+"/brokermark-") {
			continue
		}
		var topics []string
		if err := a.do(ctx, http.MethodGet, persistent+"/"+namespace, nil, &topics); err != nil {
			return nil, err
		}
		for _, topic := range topics {
			var at struct{ HTTPURL, HTTPURLTLS string }
			err := a.look(ctx, strings.Replace(topic, "://", "/", 1), &at)
			if err != nil {
				return nil, err
			}
			owned[nodeAt(c, cmp.Or(at.HTTPURL, at.HTTPURLTLS), webPort)]++
		}
	}
	delete(owned, 0)
	return owned, nil
}

// look asks which broker owns a topic.
func (a *admin) look(ctx context.Context, topic string, into any) error {
	var errs []error
	for _, base := range a.urls {
		err := a.ask(ctx, http.MethodGet, base+"/lookup/v2/topic/"+topic, nil, into)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// nodeAt is the node whose port is in where; 0 if none.
func nodeAt(c *provision.Cluster, where, port string) int {
	u, err := url.Parse(where)
	if err != nil {
		return 0
	}
	for _, n := range c.Nodes {
		if u.Port() == fmt.Sprint(n.Ports[port]) {
			return n.ID
		}
	}
	return 0
}
