package pulsar

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/brokermark/brokermark/brokers/internal/socket"
	"github.com/brokermark/brokermark/internal/driver"
)

const (
	atOnce       = 8 // concurrent requests that create topics and subscriptions
	retryPause   = 100 * time.Millisecond
	formPatience = 20 * time.Second // for a cluster that has just started
	movePatience = time.Minute
)

// Setup creates a namespace of its own with the guarantee's policies, unless the spec names one, and in it the topics with their
// subscriptions.
func (s *session) Setup(ctx context.Context, t driver.Topology) error {
	s.topology = t
	if err := s.checkStorage(ctx); err != nil {
		return err
	}
	if t.Found {
		return s.find(ctx, t)
	}
	name := cmp.Or(s.given(), namespaceOf(t))
	if t.Existing {
		s.namespace = name
		return nil
	}
	if s.given() != "" {
		if err := s.checkPolicies(ctx); err != nil {
			return err
		}
	} else if err := s.makeNamespace(ctx, &name); err != nil {
		return err
	}
	s.namespace = name
	group, all := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, topic := range t.Topics {
		read := driver.Topic{Name: topic.Outlet(), Partitions: topic.Partitions}
		group.Go(func() error { return s.makeTopic(all, read, t.Subscriptions) })
		if topic.Out != "" {
			group.Go(func() error { return s.makeTopic(all, topic, []string{relays}) })
		}
	}
	return group.Wait()
}

// checkStorage refuses guarantees that the bookies don't support.
func (s *session) checkStorage(ctx context.Context) error {
	g := s.config.Guarantee
	if g.Persistence == driver.Memory {
		return nil
	}
	if g.Persistence == driver.Fsync {
		if err := s.admin.syncsJournals(ctx); err != nil {
			return err
		}
	}
	for deadline := time.Now().Add(formPatience); !s.topology.Found; time.Sleep(retryPause) {
		n, err := s.admin.liveBookies(ctx)
		switch {
		case denied(err): // a tenant's administrator may not count them; if there are too few, no topic can be created
			return nil
		case err != nil:
			return fmt.Errorf("counting bookies: %w", err)
		case n >= g.Replicas:
			return nil
		case len(s.admin.urls) < g.Replicas || time.Now().After(deadline):
			return driver.Unsupported(fmt.Sprintf("replicas: %d", g.Replicas), "there are %d bookies", n)
		}
	}
	return nil
}

// makeTopic creates a topic, and its subscriptions if they outlive their consumers.
func (s *session) makeTopic(ctx context.Context, topic driver.Topic, subscriptions []string) error {
	path := s.pathOf(topic.Name)
	put := func(path string, body any) error {
		err := s.insist(ctx, func() error { return s.admin.do(ctx, http.MethodPut, path, body, nil) })
		if status(err) == http.StatusConflict { // an attempt that timed out may have created it
			return nil
		}
		return err
	}
	var err error
	if topic.Partitions > 1 {
		err = put(path+"/partitions", topic.Partitions)
	} else if s.domain() == persistent {
		err = put(path, nil)
	}
	if err != nil {
		return fmt.Errorf("making topic %s with %d partition(s): %w", topic.Name, topic.Partitions, err)
	}
	if s.domain() != persistent {
		return nil
	}
	for _, subscription := range subscriptions {
		if err := put(path+"/subscription/"+pathOf(subscription), "earliest"); err != nil {
			return fmt.Errorf("making subscription %s of topic %s: %w", subscription, topic.Name, err)
		}
	}
	return nil
}

// insist repeats a request that fails with a server error, or isn't answered: the topics of a cluster that has just started or lost a node
// move from broker to broker, and may wait for the end of the dead one's session. also are further temporary status codes.
func (s *session) insist(ctx context.Context, try func() error, also ...int) error {
	for deadline := time.Now().Add(movePatience); ; {
		err := try()
		code := status(err)
		passes := code == 0 || code >= http.StatusInternalServerError || code == http.StatusPreconditionFailed || slices.Contains(also, code)
		if err == nil || !passes || time.Now().After(deadline) {
			return err
		}
		s.log.Warnf("trying again: %v", err)
		if socket.Pause(ctx, retryPause) != nil {
			return err
		}
	}
}

const (
	persistent    = "persistent"
	nonPersistent = "non-persistent"
)

func (s *session) domain() string { return domainOf(s.config.Guarantee) }

// path is the admin interface's path of the topic that consumers read.
func (s *session) path(topic int) string { return s.pathOf(s.topology.Topics[topic].Outlet()) }

func (s *session) pathOf(topic string) string {
	return s.domain() + "/" + pathOf(s.whole(topic)...)
}

// whole returns tenant, namespace and name of a topic.
func (s *session) whole(topic string) []string {
	if s.topology.Found {
		return strings.Split(bare(topic), "/")
	}
	return []string{s.tenant(), s.namespace, topic}
}

// address is the client's name of the topic to which producers send.
func (s *session) address(topic int) string { return s.addressOf(s.topology.Topics[topic].Name) }

func (s *session) addressOf(topic string) string {
	return s.domain() + "://" + strings.Join(s.whole(topic), "/")
}

// Clean deletes the topics, and the namespace if the run made it; the storage is freed when the bookies next compact.
func (s *session) Clean(ctx context.Context) error {
	if s.topology.Found {
		return s.unfind(ctx)
	}
	if s.namespace == "" {
		return nil
	}
	group, all := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, topic := range s.topology.Topics {
		for _, name := range slices.Compact([]string{topic.Name, topic.Outlet()}) {
			path := s.pathOf(name)
			if topic.Partitions > 1 {
				path += "/partitions"
			}
			group.Go(func() error {
				err := s.insist(all, func() error { return s.admin.do(all, http.MethodDelete, path+"?force=true", nil, nil) })
				if err != nil && status(err) != http.StatusNotFound {
					return fmt.Errorf("deleting topic %s: %w", name, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil || s.given() != "" {
		return err
	}
	err := s.insist(ctx, func() error {
		return s.admin.do(ctx, http.MethodDelete, s.place(s.namespace), nil, nil)
	}, http.StatusConflict) // the server may be creating the namespace's own topic just then
	if err != nil && status(err) != http.StatusNotFound {
		return fmt.Errorf("deleting namespace %s/%s: %w", s.tenant(), s.namespace, err)
	}
	s.namespace = ""
	return nil
}
