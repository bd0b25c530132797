package fleet

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// client connects to a control server as one who has the token.
func client(t *testing.T, c *Control, key string, further ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := c.Join.connect(t.Context(), c.Token, key, t.Logf, further...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// seen are the subjects of the messages that a client got.
type seen struct {
	mu   sync.Mutex
	list []string
}

func (s *seen) take(m *nats.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, m.Subject+" "+string(m.Data))
}

func (s *seen) subjects() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// listen subscribes to subjects, as far as the server lets it.
func (s *seen) listen(t *testing.T, nc *nats.Conn, subjects ...string) {
	t.Helper()
	for _, subject := range subjects {
		if _, err := nc.Subscribe(subject, s.take); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

func send(t *testing.T, nc *nats.Conn, subject, text string) {
	t.Helper()
	if err := errors.Join(nc.Publish(subject, []byte(text)), nc.Flush()); err != nil {
		t.Fatal(err)
	}
}

// controlServer starts a control server, and connects to it as the coordinator.
func controlServer(t *testing.T) (*Control, *nats.Conn) {
	t.Helper()
	c, err := Listen("127.0.0.1:0", filepath.Join(t.TempDir(), "fleet"), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	coordinator, err := c.connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(coordinator.Close)
	return c, coordinator
}

func TestAnAgentReadsNoPlanAndForgesNoAnswerOfAnother(t *testing.T) {
	c, coordinator := controlServer(t)
	const keyA, keyB, session = "the key of agent A", "the key of agent B", "aSession"
	a, b := idOf(keyA), idOf(keyB)
	agentA := client(t, c, keyA, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	agentB := client(t, c, keyB)

	var atA, atB, atC seen
	atA.listen(t, agentA, ">", "brokermark.>", "brokermark.run.>", subjectDown(b, "*"), subjectUp(b, session), subjectOf(b, claimEnd), "_INBOX.>", inboxOf(b)+".>",
		subjectDown(a, session))
	atB.listen(t, agentB, subjectDown(b, session))
	atC.listen(t, coordinator, "brokermark.run.>")
	send(t, coordinator, subjectDown(b, session), "plan of B")
	send(t, coordinator, subjectDown(a, session), "plan of A")
	send(t, agentA, subjectUp(b, session), "forged answer")
	send(t, agentA, subjectDown(b, session), "forged order")
	send(t, agentB, subjectUp(b, session), "answer of B")
	wants := map[*seen][]string{
		&atA: {subjectDown(a, session) + " plan of A"},
		&atB: {subjectDown(b, session) + " plan of B"},
		&atC: {subjectDown(b, session) + " plan of B", subjectDown(a, session) + " plan of A", subjectUp(b, session) + " answer of B"},
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && (len(atA.subjects()) < 1 || len(atB.subjects()) < 1 || len(atC.subjects()) < 3); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // for what must not come
	for s, want := range wants {
		if got := s.subjects(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}

	var claims seen
	if _, err := agentB.Subscribe(subjectOf(b, claimEnd), func(m *nats.Msg) { claims.take(m); _ = m.Respond([]byte("B")) }); err != nil {
		t.Fatal(err)
	}
	if err := agentB.Flush(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if m, err := coordinator.RequestWithContext(ctx, subjectOf(b, claimEnd), nil); err != nil || string(m.Data) != "B" {
		t.Errorf("B answers a claim with %v, %v", m, err)
	}
	if _, err := agentA.Request(subjectOf(b, claimEnd), nil, 200*time.Millisecond); err == nil || len(claims.subjects()) != 1 {
		t.Errorf("A claimed B: %v", err)
	}
}

// The receiver of a question may answer it. An agent that asks with another's subject as the place of the answer, and hears its own question, must
// not be able to speak there.
func TestAnAgentSpeaksNowhereByAQuestionOfItsOwn(t *testing.T) {
	c, coordinator := controlServer(t)
	const keyA, keyB, session = "the key of agent A", "the key of agent B", "aSession"
	b := idOf(keyB)
	agentA := client(t, c, keyA, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	agentB := client(t, c, keyB)
	var asked, atB, atC seen
	const everyAgent = micro.APIPrefix + ".STATS." + service
	asked.listen(t, agentA, everyAgent)
	atB.listen(t, agentB, subjectDown(b, session), subjectOf(b, claimEnd))
	atC.listen(t, coordinator, "brokermark.run.>")
	for i, subject := range []string{subjectUp(b, session), subjectDown(b, session), subjectOf(b, claimEnd)} {
		if err := errors.Join(agentA.PublishRequest(everyAgent, subject, nil), agentA.Flush()); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && len(asked.subjects()) <= i; {
			time.Sleep(5 * time.Millisecond)
		}
		send(t, agentA, subject, "forged")
	}
	time.Sleep(50 * time.Millisecond) // for what must not come
	if got := slices.Concat(atB.subjects(), atC.subjects()); len(got) > 0 || len(asked.subjects()) != 3 {
		t.Errorf("of %d questions came %q", len(asked.subjects()), got)
	}
}

func TestNoClientIsAnAgentWithoutItsKey(t *testing.T) {
	c, err := Listen("127.0.0.1:0", filepath.Join(t.TempDir(), "fleet"), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	config, err := c.Join.tls()
	if err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]nats.Option{
		"another's ID": nats.UserInfo(idOf("its key"), "another key"), "no ID": nats.UserInfo("", ""), "an empty key": nats.UserInfo(idOf("its key"), ""),
	} {
		nc, err := nats.Connect(c.Join.Server, nats.Token(c.Token), option, nats.Secure(config))
		if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			nc.Close()
		}
	}
}
