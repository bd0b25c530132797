package results

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// A script must be able to group and plot by settings without parsing a label such as "kafka linger.ms=5, 1 KiB, rate 1k/s".
func TestFlatRecord_hasTheSettingsThatVaryAsNumbers(t *testing.T) {
	r := measured()
	r.Spec = study.Spec{
		Broker: "kafka", Measure: study.MeasureRate, Load: study.Load{Shape: "constant", Rate: 2500}, Duration: study.Duration(30 * time.Second),
		MessageSize: study.Sizes{{Size: 100, Weight: 1}, {Size: 1024, Weight: 3}}, Nodes: 1, Replicas: 3,
		Topics: 2, PartitionsPerTopic: 12, ProducersPerTopic: 4, SubscriptionsPerTopic: 2, ConsumerPerSubscription: study.Consumers{3, 2},
	}
	r.Axes = map[string]string{"client.batch.size": "16KiB", "client.linger": "5ms", "version": "3.10", "client.compression": "zstd", "share": "0.5"}
	line, err := json.Marshal(Flat(r)[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"message_size":793`, `"rate":2500`, `"rate_share":null`, `"topics":2`, `"partitions":12`, `"producers":8`, `"subscriptions":2`, `"consumers":10`,
		`"nodes":1`, `"replicas":3`, `"duration_ns":30000000000`, `"measure":"rate"`,
		`"axis.client.batch.size":16384`, `"axis.client.linger":5000000`, `"axis.version":"3.10"`, `"axis.client.compression":"zstd"`, `"axis.share":0.5`,
	} {
		if !strings.Contains(string(line), want+",") && !strings.Contains(string(line), want+"}") {
			t.Errorf("no %s in\n%s", want, line)
		}
	}
	header, rows := FlatTable([]store.Record{r})
	for row := range rows {
		for i, key := range header {
			if key == "axis.client.batch.size" && row[i] != 16384.0 {
				t.Errorf("the table has the size %v", row[i])
			}
		}
	}
}

func TestFlatRecord_ofACurveHasTheRateOfItsLoad(t *testing.T) {
	r := ofCurve(false, store.CurvePoint{Rate: 1000, Status: store.OK}, store.CurvePoint{Rate: 4000, Fraction: 0.5, Status: store.OK})
	flat := Flat(r)
	if rate, share := flat[0].Value("rate"), flat[0].Value("rate_share"); rate != 1000.0 || share != nil {
		t.Errorf("the first rate is %v, share %v", rate, share)
	}
	if rate, share := flat[1].Value("rate"), flat[1].Value("rate_share"); rate != 4000.0 || share != 0.5 {
		t.Errorf("the second rate is %v, share %v", rate, share)
	}
}

// No subscription is a setting, and what another tool doesn't say isn't.
func TestFlatRecord_tellsNoSubscriptionFromAnUnknownOne(t *testing.T) {
	r := measured()
	if got := Flat(r)[0].Value("subscriptions"); got != nil {
		t.Errorf("a spec without topics has %v subscriptions", got)
	}
	r.Spec.Topics = 1
	if got := Flat(r)[0].Value("subscriptions"); got != int64(0) {
		t.Errorf("a topic without subscriptions has %v of them", got)
	}
}
