package pulsar

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/brokermark/brokermark/internal/driver"
)

const (
	publicTenant     = "public"
	tenantSetting    = "tenant"
	namespaceSetting = "namespace"
)

// fitsNamespace refuses invalid names, and a tenant or namespace that a server started here doesn't have.
func fitsNamespace(c driver.Config) error {
	for name, usual := range map[string]string{tenantSetting: publicTenant, namespaceSetting: ""} {
		value := c.Client.String(name)
		switch {
		case value == usual:
		case value == "" || strings.ContainsFunc(value, func(r rune) bool {
			return !strings.ContainsRune("-_=:.", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}):
			return driver.Unsupported("client."+name+": "+value, "it is no name; allowed: letters, digits and - _ = : .")
		case c.Target.Server != nil:
			return driver.Unsupported("client."+name+": "+value, "a broker that is started here has no other than %s/default; allowed with attach", publicTenant)
		}
	}
	if c.Client.String(namespaceSetting) == "" {
		return nil
	}
	for _, s := range settings {
		if s.Scope == driver.TopicScope && c.Topic[s.Name] != s.Default {
			return driver.Unsupported(s.Path(), "it is a policy of a namespace that the run makes; client.%s names one that has its own", namespaceSetting)
		}
	}
	return nil
}

func (s *session) tenant() string { return s.config.Client.String(tenantSetting) }

// given is the namespace in the spec; empty: the run makes one.
func (s *session) given() string { return s.config.Client.String(namespaceSetting) }

// place is the path of a namespace of the tenant at the admin interface.
func (s *session) place(name string) string { return "namespaces/" + pathOf(s.tenant(), name) }

// makeNamespace creates a namespace with the policies of the run.
func (s *session) makeNamespace(ctx context.Context, name *string) error {
	err := s.admin.do(ctx, http.MethodPut, s.place(*name), s.policies(), nil)
	if status(err) == http.StatusConflict { // left by a topology that was not cleaned: users of a shared one name their topics uniquely
		*name += "-" + strings.ToLower(rand.Text()[:12])
		err = s.admin.do(ctx, http.MethodPut, s.place(*name), s.policies(), nil)
	}
	switch code := status(err); {
	case err == nil:
		return nil
	case code == http.StatusBadRequest || code == http.StatusPreconditionFailed:
		return driver.Unsupported("topic settings", "the broker says: %v", err)
	case code == http.StatusNotFound:
		return driver.Unsupported("client."+tenantSetting+": "+s.tenant(), "the broker says: %v", err)
	}
	return fmt.Errorf("making namespace %s/%s: %w", s.tenant(), *name, err)
}

// checkPolicies refuses a namespace of the spec whose policies don't match the guarantee: only its owner may change them.
func (s *session) checkPolicies(ctx context.Context) error {
	var has struct {
		Persistence *struct {
			Copies  int `json:"bookkeeperWriteQuorum"`
			Answers int `json:"bookkeeperAckQuorum"`
		} `json:"persistence"`
		Deduplication bool `json:"deduplicationEnabled"`
	}
	setting := fmt.Sprintf("client.%s: %s", namespaceSetting, s.given())
	err := s.admin.do(ctx, http.MethodGet, s.place(s.given()), nil, &has)
	g := s.config.Guarantee
	copies, answers := quorums(g)
	switch {
	case status(err) == http.StatusNotFound:
		return driver.Unsupported(setting, "the tenant %s has no such namespace", s.tenant())
	case err != nil:
		return fmt.Errorf("reading the policies of namespace %s/%s: %w", s.tenant(), s.given(), err)
	case has.Deduplication != (g.Delivery == driver.ExactlyOnce):
		return driver.Unsupported(setting, "its policy deduplicationEnabled is %t; delivery: %s needs %t", has.Deduplication, g.Delivery, !has.Deduplication)
	case g.Persistence == driver.Memory:
		return nil
	case has.Persistence == nil:
		return driver.Unsupported(setting, "it has no persistence policy, so that its copies aren't known (pulsar-admin namespaces set-persistence)")
	case has.Persistence.Copies != copies || has.Persistence.Answers != answers:
		return driver.Unsupported(setting, "its persistence policy has %d copies and waits for %d; replicas: %d with acks: %s needs %d and %d",
			has.Persistence.Copies, has.Persistence.Answers, g.Replicas, g.Acks, copies, answers)
	}
	return nil
}

// quorums are the number of copies of a message, and how many of them are waited for.
func quorums(g driver.Guarantee) (copies, answers int) {
	copies, answers = max(1, g.Replicas), 1
	if g.Acks == driver.AcksQuorum {
		answers = copies/2 + 1
	}
	return copies, answers
}

// namespaceOf is the namespace of a topology; every process that uses it derives the name from the first topic's.
func namespaceOf(t driver.Topology) string {
	digest := sha256.Sum256([]byte(t.Topics[0].Name))
	return "brokermark-" + hex.EncodeToString(digest[:6])
}

// policies are the namespace's policies for the guarantee and the topic settings.
func (s *session) policies() map[string]any {
	g, v := s.config.Guarantee, s.config.Topic
	copies, answers := quorums(g)
	p := map[string]any{
		"bundles": map[string]any{"numBundles": v.Int("numBundles")},
		"persistence": map[string]any{
			"bookkeeperEnsemble": copies, "bookkeeperWriteQuorum": copies, "bookkeeperAckQuorum": answers,
			"managedLedgerMaxMarkDeleteRate": v.Float("managedLedgerMaxMarkDeleteRate"),
		},
		"deduplicationEnabled": g.Delivery == driver.ExactlyOnce,
	}
	if minutes, size := v.Int("retentionTimeInMinutes"), v.Int("retentionSizeInMB"); minutes != 0 || size != 0 {
		p["retention_policies"] = map[string]any{"retentionTimeInMinutes": minutes, "retentionSizeInMB": size}
	}
	if ttl := v.Int("messageTTLInSeconds"); ttl > 0 {
		p["message_ttl_in_seconds"] = ttl
	}
	if limit := v.Int("backlogQuota.limitSize"); limit >= 0 {
		p["backlog_quota_map"] = map[string]any{
			"destination_storage": map[string]any{"limitSize": limit, "limitTime": -1, "policy": v.String("backlogQuota.policy")},
		}
	}
	for name, field := range map[string]string{
		"maxUnackedMessagesPerConsumer":     "max_unacked_messages_per_consumer",
		"maxUnackedMessagesPerSubscription": "max_unacked_messages_per_subscription",
	} {
		if n := v.Int(name); n >= 0 {
			p[field] = n
		}
	}
	return p
}
