package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
)

func TestATopicOfAnotherApplicationStaysUnchanged(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "kafka"})
	for name, client := range map[string]map[string]any{"classic": nil, "consumer": {"group.protocol": brokerGroups}} {
		t.Run(name, func(t *testing.T) {
			drivertest.Found(t, drivertest.Suite{Kind: livetest.Kind(t, "kafka"), Client: client}, target, atLeast, nil)
		})
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(target.Addresses...))
	livetest.Must(t, err)
	defer client.Close()
	admin := kadm.NewClient(client)
	_, err = admin.CreateTopic(t.Context(), 1, 1, map[string]*string{"retention.ms": new("86400000")}, "kept")
	livetest.Must(t, err)
	settings := func() string {
		t.Helper()
		described, err := admin.DescribeTopicConfigs(t.Context(), "kept")
		livetest.Must(t, err)
		text := ""
		for _, c := range described[0].Configs {
			if c.Source == 1 { // given with the topic
				text += c.Key + "=" + c.MaybeValue() + " "
			}
		}
		return text
	}
	_, err = admin.CreateTopic(t.Context(), 1, 1, map[string]*string{"min.insync.replicas": new("2")}, "short")
	livetest.Must(t, err)
	short := livetest.Topic("short", 1, "s")
	short.Found = true
	livetest.Says(t, livetest.SetupError(t, "kafka", livetest.Config(t, "kafka", target, atLeast, nil, nil), short), "its min.insync.replicas is 2, and it has one replica")
	before := settings()
	topology := livetest.Topic("kept", 1, "s")
	topology.Found = true
	flushed := atLeast
	flushed.Persistence = driver.Fsync
	livetest.Refused(t, livetest.SetupError(t, "kafka", livetest.Config(t, "kafka", target, flushed, nil, nil), topology), "topicName: kept")
	livetest.Must(t, livetest.SetupError(t, "kafka", livetest.Config(t, "kafka", target, leaderOnly, nil, nil), topology))
	if after := settings(); before == "" || after != before {
		t.Errorf("it had the settings %q and has %q", before, after)
	}
}

// A user who may create no topic, and read and write one that is there, with groups of one prefix.
func TestAUserWithoutTheRightToCreateUsesATopicThatIsThere(t *testing.T) {
	_, target := livetest.Start(t, provision.Options{Broker: "kafka", Server: map[string]any{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "allow.everyone.if.no.acl.found": true,
	}})
	client, err := kgo.NewClient(kgo.SeedBrokers(target.Addresses...))
	livetest.Must(t, err)
	defer client.Close()
	admin := kadm.NewClient(client)
	_, err = admin.CreateTopic(t.Context(), 1, 1, nil, "orders")
	livetest.Must(t, err)
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: "orders", At: 0, LeaderEpoch: -1})
	livetest.Eventually(t, "the broker has its own topic of offsets", func() bool { // it learns of a new topic a moment later
		return admin.CommitAllOffsets(t.Context(), "before", offsets) == nil
	})
	rules := []*kadm.ACLBuilder{
		kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral).Topics("orders").Operations(kadm.OpRead, kadm.OpWrite).Allow("User:*").AllowHosts("*"),
		kadm.NewACLs().ResourcePatternType(kadm.ACLPatternPrefixed).Groups("mine.").Operations(kadm.OpRead, kadm.OpDelete).Allow("User:*").AllowHosts("*"),
		kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral).Topics("*").Operations(kadm.OpCreate, kadm.OpDelete, kadm.OpAlter, kadm.OpAlterConfigs).Deny("User:*").DenyHosts("*"),
		kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral).Groups("*").Operations(kadm.OpAlterConfigs).Deny("User:*").DenyHosts("*"),
		kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral).Clusters().Operations(kadm.OpAll).Allow("User:*").AllowHosts("*"),
		kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral).Clusters().Operations(kadm.OpCreate).Deny("User:*").DenyHosts("*"),
	}
	for _, r := range rules {
		made, err := admin.CreateACLs(t.Context(), r)
		livetest.Must(t, err)
		for _, one := range made {
			livetest.Must(t, one.Err)
		}
	}
	config := livetest.Config(t, "kafka", target, atLeast, nil, nil)
	livetest.Says(t, livetest.SetupError(t, "kafka", config, livetest.Topic("others", 1, "s")), "TOPIC_AUTHORIZATION_FAILED")
	topology := livetest.Topic("orders", 1, "mine.s")
	topology.Found = true
	rig := livetest.Open(t, "kafka", config, topology)
	end := rig.Consume(t, driver.ConsumerConfig{Of: 1})
	rig.Post(t, "a", "b", "c")
	livetest.Eventually(t, "everything has come", func() bool { return len(rig.Book.Received(0)) == 3 })
	end()
	livetest.Must(t, rig.Driver.(driver.Cleaner).Clean(t.Context()))
	ends, err := admin.ListEndOffsets(t.Context(), "orders")
	livetest.Must(t, err)
	if end, _ := ends.Lookup("orders", 0); end.Offset != 3 {
		t.Errorf("%+v", end)
	}
}
