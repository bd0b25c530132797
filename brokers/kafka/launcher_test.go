package kafka

import (
	"slices"
	"testing"
)

func TestABrokerStartsWhenZooKeeperHasForgottenItsNumber(t *testing.T) {
	const held = "SessionTracker dump:\nSession Sets (1):\n1 expire at Sun Nov 22:\n\t0x1\nephemeral nodes dump:\nSessions with Ephemerals (1):\n0x1:\n\t/controller\n\t/brokers/ids/1\n"
	for dump, want := range map[string]map[string]bool{
		"": {"1": false},
		"This ZooKeeper instance is not currently serving requests\n": {"1": false},
		held: {"1": false, "2": true, "11": true},
		"SessionTracker dump:\nephemeral nodes dump:\nSessions with Ephemerals (0):\n": {"1": true},
	} {
		for number, vacant := range want {
			if isVacant(dump, number) != vacant {
				t.Errorf("number %s is vacant: %v, want %v, when ZooKeeper says %q", number, !vacant, vacant, dump)
			}
		}
	}
}

func TestTheNamesOfSettingsAreReadOffThePageOfEachAge(t *testing.T) {
	for version, page := range map[string]string{
		"1.1.1": "<tr>\n<th>Name</th>\n</tr>\n<tr>\n<td>zookeeper.connect</td></td><td>Zookeeper host string</td></td></tr>\n<tr>\n<td>num.io.threads</td></td><td>8</td></td></tr>",
		"4.3.1": `<li><h4><a id="zookeeper.connect"></a><a id="brokerconfigs_zookeeper.connect" href="#x">zookeeper.connect</a></h4><li><h4><a id="brokerconfigs_num.io.threads" href="#y">`,
	} {
		if got, want := knownSettings(version, []byte(page)), []string{"zookeeper.connect", "num.io.threads"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", version, got, want)
		}
	}
}
