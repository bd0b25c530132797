package study

import (
	"strings"
	"testing"
)

func TestWhatATopicOfSomebodyElseCantHaveIsRefusedByName(t *testing.T) {
	const there = "broker: kafka\nattach: [a:1]\n"
	for document, want := range map[string]string{
		"broker: kafka\ntopicName: orders\n":                                                                  "topicName: only with attach",
		there + "topicName: 'or ders'\n":                                                                      `topicName: "or ders" is not the name of a topic`,
		there + "topicName: orders\ntopics: 2\n":                                                              "topics: 2; topicName: orders is 1",
		there + "topicName: orders\ntopicConfig: {retention.ms: 5}\n":                                         "topicConfig.retention.ms: can't be combined with topicName: orders",
		there + "topicName: orders\nrelays: 1\n":                                                              "relays: can't be combined with topicName: orders",
		there + "topicName: orders\nmessageSize: 8\n":                                                         "messageSize: a message of 8 bytes has no room",
		there + "topicName: orders\ngenerator: kafka-producer-perf-test\n" + "measure: rate\nload.rate: 10\n": "topicName: not used with generator",
		there + "topicPrefix: .mine\n":                                                                        `topicPrefix: ".mine" begins no name`,
		there + "topicPrefix: mine..\n":                                                                       `topicPrefix: "mine.." begins no name`,
		there + "measure: read\n":                                                                             "topicName: missing; measure: read",
		"broker: kafka\nmeasure: read\n":                                                                      "topicName: missing; measure: read",
		there + "topicName: orders\nmeasure: read\nproducersPerTopic: 1\n":                                    "producersPerTopic: 1 with measure: read",
		there + "topicName: orders\nmeasure: read\nsubscriptionsPerTopic: 0\n":                                "subscriptionsPerTopic: 0 with measure: read",
		there + "topicName: orders\nmeasure: read\nmessageSize: 100\n":                                        "messageSize: not used by measure: read",
		there + "topicName: orders\nmeasure: read\nordering: ordered\n":                                       "ordering: with measure: read",
		there + "topicName: orders\nmeasure: read\ndrain: 3s\n":                                               "drain: not used by measure: read",
		there + "topicName: orders\nread.from: start\nwarmup: 2s\n":                                           "warmup.for: not used by read.from: start",
		there + "topicName: orders\nmeasure: peak\nread.from: start\n":                                        "read.from: not used by measure: peak, only by read",
		there + "topicName: orders\nread.from: middle\n":                                                      `read.from: "middle"`,
	} {
		s, err := Parse("x.yaml", []byte(document))
		if err == nil {
			_, err = s.Points()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", document, err, want)
		}
	}
}

func TestAPrefixIsNoPartOfAPointsIdentityAndATopicIs(t *testing.T) {
	const there = "broker: kafka\nattach: [a:1]\n"
	plain, prefixed, found := only(t, there), only(t, there+"topicPrefix: team-1.mine/\n"), only(t, there+"topicName: orders\n")
	if prefixed.ID != plain.ID || found.ID == plain.ID {
		t.Errorf("%s, with a prefix %s, with a topic %s", plain.ID, prefixed.ID, found.ID)
	}
}

func TestReadingSendsNothing(t *testing.T) {
	s := only(t, "broker: kafka\nattach: [a:1]\ntopicName: orders\nread.from: start\n").Spec
	if s.Measure != MeasureRead || s.ProducersPerTopic != 0 || len(s.MessageSize) != 0 || s.Warmup.For != 0 || !s.ClosedLoop() {
		t.Errorf("%+v", s)
	}
	if now := only(t, "broker: kafka\nattach: [a:1]\ntopicName: orders\nmeasure: read\n").Spec; now.Read.From != ReadNow || now.Warmup.For == 0 {
		t.Errorf("%+v", now)
	}
}

func TestAStrangersDocumentNamesNoTopicOfYours(t *testing.T) {
	s, err := Parse("x.yaml", []byte("broker: kafka\nattach: [a:1]\ntopicName: orders\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Distrusted = true
	if _, err := s.Points(); err == nil || !strings.Contains(err.Error(), "topicName: it sends to a topic of yours") {
		t.Error(err)
	}
}
