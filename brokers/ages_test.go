package all_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// ofAge are the names of settings by which a topic lets go of what has become too old.
var ofAge = regexp.MustCompile(`(?i)ttl|max.?age|expires|^retention\.ms$|expiry`)

// keepsBeside are settings of such a name that drop nothing that waits for a consumer.
var keepsBeside = map[string]string{}

func TestWhateverATopicDropsByItsAgeIsLossThatWasAskedFor(t *testing.T) {
	seen := 0
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range kind.Settings {
			if s.Scope != driver.TopicScope || !ofAge.MatchString(s.Name) || keepsBeside[name+"."+s.Name] != "" {
				continue
			}
			seen++
			client, _ := driver.Decode(kind.Settings, driver.ClientScope, nil)
			topic, _ := driver.Decode(kind.Settings, driver.TopicScope, nil)
			if kind.Keeps != nil && kind.Keeps(client, topic, 100).Given() {
				t.Errorf("%s limits something by default: %+v", name, kind.Keeps(client, topic, 100))
			}
			switch s.Default.(type) {
			case time.Duration:
				topic[s.Name] = time.Minute
			case string:
				topic[s.Name] = "60000"
			default:
				topic[s.Name] = int64(60)
			}
			if kind.Keeps == nil {
				t.Errorf("%s drops by %s and says of nothing that it was asked for", name, s.Name)
				continue
			}
			limit := kind.Keeps(client, topic, 100)
			if age := limit.Age; age != time.Minute && age != 60*time.Millisecond || limit.AgeSetting == "" || limit.Setting != "" {
				t.Errorf("%s, %s: %v is the limit %+v", name, s.Name, topic[s.Name], limit)
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d settings are of age", seen)
	}
}
