package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestWhatAUserMayNotDoIsSaidInTheBrokersWords(t *testing.T) {
	testkit.Long(t)
	_, target := livetest.Start(t, provision.Options{Broker: "kafka", Server: map[string]any{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "allow.everyone.if.no.acl.found": true,
	}})
	client, err := kgo.NewClient(kgo.SeedBrokers(target.Addresses...))
	livetest.Must(t, err)
	defer client.Close()
	admin := kadm.NewClient(client)
	for _, c := range []struct {
		name      string
		guarantee driver.Guarantee
		client    map[string]any
		resource  func(*kadm.ACLBuilder) *kadm.ACLBuilder
		operation kadm.ACLOperation
		says      string
	}{
		{"write", atLeast, nil, topics, kadm.OpWrite, "TOPIC_AUTHORIZATION_FAILED"},
		{"write, acknowledged by the leader", leaderOnly, nil, topics, kadm.OpWrite, "TOPIC_AUTHORIZATION_FAILED"},
		{"write in transactions", exactly, nil, topics, kadm.OpWrite, "TOPIC_AUTHORIZATION_FAILED"},
		{"describe topics", atLeast, nil, topics, kadm.OpDescribe, "TOPIC_AUTHORIZATION_FAILED"},
		{"read topics", atLeast, nil, topics, kadm.OpRead, "TOPIC_AUTHORIZATION_FAILED"},
		{"read groups", atLeast, nil, groups, kadm.OpRead, "GROUP_AUTHORIZATION_FAILED"},
		{"read groups of the broker", atLeast, map[string]any{"group.protocol": brokerGroups}, groups, kadm.OpRead, "GROUP_AUTHORIZATION_FAILED"},
		{"transactional ids", exactly, nil, transactions, kadm.OpWrite, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := c.resource(kadm.NewACLs().ResourcePatternType(kadm.ACLPatternPrefixed))
			everything := c.resource(kadm.NewACLs().ResourcePatternType(kadm.ACLPatternPrefixed)).Operations(kadm.OpAll).Allow("User:*").AllowHosts("*")
			rules = rules.Operations(c.operation).Deny("User:*").DenyHosts("*")
			for _, b := range []*kadm.ACLBuilder{everything, rules} {
				made, err := admin.CreateACLs(t.Context(), b)
				livetest.Must(t, err)
				for _, one := range made {
					livetest.Must(t, one.Err)
				}
			}
			defer func() {
				gone := c.resource(kadm.NewACLs().ResourcePatternType(kadm.ACLPatternPrefixed)).Operations(kadm.OpAny).Allow().AllowHosts().Deny().DenyHosts()
				_, err := admin.DeleteACLs(t.Context(), gone)
				livetest.Must(t, err)
			}()
			drivertest.Denied(t, drivertest.Suite{Kind: livetest.Kind(t, "kafka")},
				drivertest.Denial{Name: "denied", Target: target, Guarantee: c.guarantee, Client: c.client, Says: c.says})
		})
	}
}

func topics(b *kadm.ACLBuilder) *kadm.ACLBuilder       { return b.Topics("dt-") }
func groups(b *kadm.ACLBuilder) *kadm.ACLBuilder       { return b.Groups("dt-") }
func transactions(b *kadm.ACLBuilder) *kadm.ACLBuilder { return b.TransactionalIDs("dt-") }

func TestWhatTheBrokerDoesNotTakeIsSaidInItsWords(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "kafka"})
	client, err := kgo.NewClient(kgo.SeedBrokers(target.Addresses...))
	livetest.Must(t, err)
	defer client.Close()
	kafka, compacted := drivertest.Suite{Kind: livetest.Kind(t, "kafka")}, drivertest.Suite{Kind: livetest.Kind(t, "kafka"), Topic: map[string]any{"cleanup.policy": "compact"}}
	drivertest.Denied(t, kafka,
		drivertest.Denial{Name: "session", Target: target, Guarantee: atLeast, Client: map[string]any{"session.timeout.ms": 1000}, Says: "INVALID_SESSION_TIMEOUT"})
	const noKeys = "rejected. (a compacted topic takes messages with keys only; set keyDistributor"
	drivertest.Denied(t, compacted,
		drivertest.Denial{Name: "no key", Target: target, Guarantee: atLeast, Says: noKeys},
		drivertest.Denial{Name: "no key in a transaction", Target: target, Guarantee: exactly, Says: noKeys})
	entity := "brokermark"
	answers, err := kadm.NewClient(client).AlterClientQuotas(t.Context(), []kadm.AlterClientQuotaEntry{{
		Entity: kadm.ClientQuotaEntity{{Type: "client-id", Name: &entity}}, Ops: []kadm.AlterClientQuotaOp{{Key: "producer_byte_rate", Value: 100}},
	}})
	livetest.Must(t, err)
	for _, a := range answers {
		livetest.Must(t, a.Err)
	}
	drivertest.Denied(t, kafka, drivertest.Denial{Name: "producer_byte_rate", Target: target, Guarantee: atLeast, Says: "throttle_time_ms", Held: true})
}
