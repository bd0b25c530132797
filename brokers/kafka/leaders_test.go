package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAPartitionIsLedWhenEveryBrokerKnowsItsLeader(t *testing.T) {
	name := "t"
	answer := func(edit func(*kmsg.MetadataResponseTopicPartition)) *kmsg.MetadataResponse {
		var topic kmsg.MetadataResponseTopic
		topic.Topic = &name
		for i := range int32(2) {
			p := kmsg.MetadataResponseTopicPartition{Partition: i, Leader: i + 1, ISR: []int32{1, 2}}
			if i == 1 && edit != nil {
				edit(&p)
			}
			topic.Partitions = append(topic.Partitions, p)
		}
		return &kmsg.MetadataResponse{Topics: []kmsg.MetadataResponseTopic{topic}}
	}
	for what, c := range map[string]struct {
		other *kmsg.MetadataResponse
		want  bool
	}{
		"both know":               {answer(nil), true},
		"one knows another":       {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.Leader = 3 }), false},
		"one knows of none":       {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.Leader = -1 }), false},
		"one sees a replica late": {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.ISR = p.ISR[:1] }), false},
		"one has an error":        {answer(func(p *kmsg.MetadataResponseTopicPartition) { p.ErrorCode = 5 }), false},
		"one doesn't know it":     {&kmsg.MetadataResponse{Topics: []kmsg.MetadataResponseTopic{{Topic: &name, ErrorCode: 3}}}, false},
		"one knows no topic":      {&kmsg.MetadataResponse{}, false},
	} {
		if got := led([]*kmsg.MetadataResponse{answer(nil), c.other}, 1, 2); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
	if led(nil, 1, 1) {
		t.Error("nobody was asked")
	}
}
