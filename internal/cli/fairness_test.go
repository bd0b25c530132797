package cli_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestThePageOnFairnessHasAWayForEveryBrokerThatCheckAccepts(t *testing.T) {
	text, err := os.ReadFile("../../docs/fairness.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	sections := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		for _, name := range quoted.FindAllStringSubmatch(heading, -1) {
			sections[name[1]] = body
		}
	}
	for line := range strings.Lines(brokermark(t, "list", "brokers", "--format", "jsonl").want(t, 0).out) {
		var row struct{ Broker string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Broker == "" || row.Broker == "sim" { // which no comparison has
			continue
		}
		t.Run(row.Broker, func(t *testing.T) {
			body := sections[row.Broker]
			delete(sections, row.Broker)
			for _, bullet := range []string{"- **Set**: ", "- **Why**: ", "- **Its maintainers might say**: ", "- **Their way**: "} {
				if !strings.Contains(body, bullet) {
					t.Errorf("no %q", bullet)
				}
			}
			_, way, _ := strings.Cut(body, "- **Their way**: ")
			for _, flags := range quoted.FindAllStringSubmatch(way, -1) {
				if !strings.HasPrefix(flags[1], "--") || row.Broker == "redis-pubsub" { // streams alone have settings there
					continue
				}
				args := append([]string{"check", "--broker", row.Broker, "--measure", "rate", "--rate", "1000"}, strings.Fields(flags[1])...)
				if r := brokermark(t, args...); r.code != 0 || strings.Contains(r.out, "refused") {
					t.Errorf("%s: exit code %d: %s%s", flags[1], r.code, r.out, r.err)
				}
			}
		})
	}
	for name := range sections {
		t.Errorf("there is no broker %s", name)
	}
}
