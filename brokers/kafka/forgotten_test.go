package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
)

// goesOnForgotten consumes as a member that the coordinator is made to forget, as it does with one that was silent for
// too long: the next commit is refused.
func goesOnForgotten(t *testing.T, client *kgo.Client, target driver.Target, g driver.Guarantee) {
	topology := livetest.Topic("forgotten-"+string(g.Delivery), 1, "s")
	r := livetest.Open(t, "kafka", livetest.Config(t, "kafka", target, g, map[string]any{
		"enable.auto.commit": false, "heartbeat.interval.ms": 20_000, // the commit is to meet it first
	}, nil), topology)
	end := r.Consume(t, driver.ConsumerConfig{})
	livetest.Must(t, r.Send(t, "before"))
	r.Settled(t)
	name := groupOf(topology, topology.Topics[0].Name, "s")
	groups, err := kadm.NewClient(client).DescribeGroups(t.Context(), name)
	livetest.Must(t, err)
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = name
	for _, m := range groups[name].Members {
		leaving := kmsg.NewLeaveGroupRequestMember()
		leaving.MemberID = m.MemberID
		leave.Members = append(leave.Members, leaving)
	}
	if len(leave.Members) != 1 {
		t.Fatalf("the group has %d members", len(leave.Members))
	}
	_, err = leave.RequestWith(t.Context(), client)
	livetest.Must(t, err)
	livetest.Must(t, r.Send(t, "after"))
	r.Settled(t)
	end() // with nil, or the test fails
	if c := r.Count(); c.Received != 2 || g.Delivery == driver.AtMostOnce && c.Repeated > 0 {
		t.Errorf("%+v; want both messages", c)
	}
}
