package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestMessagesAreThePayloadsOfAFile(t *testing.T) {
	for _, broker := range []string{"sim", "nats"} {
		for name, c := range map[string]struct {
			text, column string
			least, most  float64 // bytes of its payloads
		}{
			"lines.jsonl": {`{"order": 1, "of": "Ada Lovelace, Esq."}` + "\n" + `{"order": 2, "of": "Charles Babbage, Professor"}` + "\n", "", 40, 48},
			"rows.csv":    {"order,of\n1,\"Ada Lovelace, of whom nobody knows more\"\n2,\"Charles Babbage, who never finished it\"\n", "of", 38, 39},
		} {
			t.Run(broker+" "+name, func(t *testing.T) {
				args := count(broker, "--set", "payloadFile="+file(t, name, c.text), "--store", filepath.Join(t.TempDir(), "s.db"), "--format", "jsonl")
				if c.column != "" {
					args = append(args, "--set", "payloadColumn="+c.column)
				}
				o := brokermark(t, args...).want(t, 0).objects(t)[0]
				mean := o["publish_mb_s"].(float64) * 1e6 / o["publish_rate"].(float64)
				if o["received"] != 200.0 || o["lost"] != 0.0 || mean <= c.least || mean >= c.most {
					t.Errorf("%v received, %v lost, %g bytes each; want 200 of more than %g and less than %g", o["received"], o["lost"], mean, c.least, c.most)
				}
			})
		}
	}
}

func TestWhatIsDoneToPayloadsIsSaid(t *testing.T) {
	payload := "payloadFile=" + file(t, "lines.jsonl", `{"order": 1, "of": "Ada Lovelace, Esq."}`+"\n")
	db := filepath.Join(t.TempDir(), "s.db")
	brokermark(t, count("nats", "--set", payload, "--set", "headers.trace=on", "--store", db)...).want(t, 0)
	says := func(what string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(strings.Join(strings.Fields(what), " "), w) {
				t.Errorf("no %q in\n%s", w, what)
			}
		}
	}
	says(brokermark(t, "export", "--store", db, "--format", "jsonl").want(t, 0).out, `"identity":"header"`, `"headers":{"trace":"on"}`)
	says(brokermark(t, "report", "--store", db).want(t, 0).out, "Payloads of files arrived as they are, with a message's identity and times in a header.")
	says(brokermark(t, "check", "--broker", "kafka,redis-pubsub", "--set", payload, "--delivery", "at-most-once").want(t, 0).out,
		"kafka: payloads of the file arrive as they are; identity and times of a message are in a header.",
		"redis-pubsub: identity and times of a message replace the first bytes of its payload, up to 32, since a message has no headers in the protocol of redis-pubsub.")
	if out := brokermark(t, "check", "--broker", "kafka,redis-pubsub", "--delivery", "at-most-once").want(t, 0).out; strings.Contains(out, "identity") {
		t.Errorf("payloads that are made up:\n%s", out)
	}
	complains(t, brokermark(t, "check", "--broker", "redis-pubsub", "--set", "headers.trace=on").want(t, 2),
		"every point would be refused; the first: --set 'headers.trace=on': headers is not supported: a message has no headers in the protocol of redis-pubsub")
}

func TestSubscriptionsMayHaveDifferentNumbersOfConsumers(t *testing.T) {
	store := filepath.Join(t.TempDir(), "s.db")
	spec := file(t, "groups.yaml", "measure: count\ncount.messages: 200\nsubscriptions: [{consumers: 3}, {consumers: 2}]\n")
	for _, broker := range []string{"sim", "nats"} {
		o := brokermark(t, "run", spec, "--broker", broker, "--store", store, "--format", "jsonl").want(t, 0).objects(t)[0]
		if o["sent"] != 200.0 || o["received"] != 400.0 || o["lost"] != 0.0 {
			t.Errorf("%s: %v sent, %v received, %v lost; want 200, and each at both subscriptions", broker, o["sent"], o["received"], o["lost"])
		}
		again := brokermark(t, "run", "--broker", broker, "--measure", "count", "--set", "count.messages=200",
			"--consumers", "3+2", "--store", store, "--format", "jsonl").want(t, 0).objects(t)
		if again[0]["began"] != o["began"] {
			t.Errorf("%s: --consumers 3+2 is another point than the list of subscriptions", broker)
		}
	}
	brokermark(t, count("sim", "--consumers", "2,3+2", "--store", store)...).want(t, 0)
	for _, shown := range []struct{ want, out string }{
		{"\n3+2  ", brokermark(t, "report", "--store", store, "--where", "broker=sim").want(t, 0).out},
		{"consumerPerSubscription: 2, 3+2", brokermark(t, "check", "--broker", "sim", "--consumers", "2,3+2").want(t, 0).out},
	} {
		if !strings.Contains(shown.out, shown.want) {
			t.Errorf("no %q in\n%s", shown.want, shown.out)
		}
	}
	r := brokermark(t, "check", "--broker", "redis-pubsub", "--consumers", "1+2").want(t, 2)
	complains(t, r, "every point would be refused; the first: --consumers 1+2: consumerPerSubscription: 2 is not supported: every subscriber of a channel gets every message")
}
