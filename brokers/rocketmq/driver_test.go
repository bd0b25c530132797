package rocketmq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/driver/drivertest"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestMain(m *testing.M) { livetest.Main(m) }

var (
	atMost    = livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksNone, driver.Unordered)
	answered  = livetest.Guarantee(driver.AtMostOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	atLeast   = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Unordered)
	inOrder   = livetest.Guarantee(driver.AtLeastOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	exactly   = livetest.Guarantee(driver.ExactlyOnce, driver.Log, driver.AcksLeader, driver.Ordered)
	onDisk    = livetest.Guarantee(driver.AtLeastOnce, driver.Fsync, driver.AcksLeader, driver.Ordered)
	forgetful = livetest.Guarantee(driver.AtLeastOnce, driver.Memory, driver.AcksLeader, driver.Ordered)
)

func small() map[string]any { return map[string]any{"jvm.Xms": "400m", "jvm.Xmx": "400m"} }

func TestDriverKeepsThePromises(t *testing.T) {
	testkit.Long(t) // three minutes; TestASingleServer is the short one
	drivertest.Run(t, livetest.Suite(t, provision.Options{Broker: "rocketmq", Server: small()}, inOrder, atLeast, atMost, answered))
}

// numbers are n payloads from first.
func numbers(first, n int) (list []string) {
	for i := first; i < first+n; i++ {
		list = append(list, fmt.Sprintf("%06d", i))
	}
	return list
}

func TestASingleServer(t *testing.T) {
	in, target := livetest.Start(t, provision.Options{Broker: "rocketmq", Server: small()})
	t.Run("listens on this machine alone", func(t *testing.T) { listensHere(t, in) })
	rigs := map[string]*livetest.Rig{}
	for name, g := range map[string]driver.Guarantee{"ordered": inOrder, "unordered": atLeast} {
		r := livetest.Open(t, "rocketmq", livetest.Config(t, "rocketmq", target, g, nil, nil), livetest.Topic("single/"+name, 1, "s"))
		r.ConsumeAll(t)
		livetest.Must(t, r.Send(t, numbers(0, 100)...))
		r.Settled(t)
		rigs[name] = r
	}
	livetest.Must(t, in.Kill(t.Context(), 1))
	for _, r := range rigs {
		r.Post(t, numbers(100, 200)...) // while nobody answers
	}
	livetest.Must(t, in.Restart(t.Context(), 1))
	for name, r := range rigs {
		t.Run(name+", nothing acknowledged is lost when the broker is killed", func(t *testing.T) {
			livetest.Must(t, r.Fates(t, numbers(100, 200)...))
			livetest.Eventually(t, "all came", func() bool { return r.Count().Lost == 0 && r.Count().Pending == 0 })
			got, last := r.Received(0), ""
			seen := map[string]bool{}
			for _, payload := range got {
				if name == "ordered" && !seen[payload] && payload < last {
					t.Errorf("%s came for the first time after %s", payload, last)
				}
				seen[payload], last = true, max(last, payload)
			}
			if len(seen) != 300 {
				t.Errorf("%d different messages came, want 300", len(seen))
			}
		})
	}
}

// listensHere wants every socket on which the server listens to be of the loopback interface.
func listensHere(t *testing.T, in *provision.Instance) {
	t.Helper()
	pids, err := in.Processes(1)
	livetest.Must(t, err)
	at := livetest.Listening(t, pids)
	for _, a := range at {
		if !a.Addr().IsLoopback() {
			t.Errorf("it listens on %s", a)
		}
	}
	if len(at) < 4 {
		t.Errorf("it listens on %v: name server, broker (twice) and proxy are four", at)
	}
}

func TestServerSettingsAreRefusedByName(t *testing.T) {
	testkit.Long(t) // needs the server's own list of them
	livetest.RefusesEach(t, provision.Options{Broker: "rocketmq"}, map[string]any{
		"flushDiskTyp":                 "SYNC_FLUSH",
		"flushDiskType":                "perhaps",
		"flushIntervalCommitLog":       "soon",
		"bindAddress":                  "0.0.0.0",
		"haListenPort":                 10912,
		"proxy.grpcServerPort":         8081,
		"proxy.grpcThreadPoolNum":      4,
		"proxy.enableGrpcEpoll":        "perhaps",
		"jvm.heap":                     "1g",
		"transientStorePoolEnable":     "1",
		"proxy.tlsTestModeEnable":      true,
		"proxy.metricCollectorAddres":  "x",
		"flushCommitLogThoroughIntrvl": 1,
	})
}

func TestAGuaranteeThatIsNotKeptIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		g      driver.Guarantee
		server map[string]any
		names  string // of what is refused; "": nothing
	}{
		"twice is twice":         {g: exactly, names: "delivery: exactly-once"},
		"memory":                 {g: forgetful, names: "persistence: memory"},
		"not flushed":            {g: onDisk, server: map[string]any{flushing: flushLate}, names: "persistence: fsync"},
		"flushed":                {g: onDisk, server: map[string]any{flushing: flushSync}},
		"answered before stored": {g: atLeast, server: map[string]any{offHeap: true}, names: "persistence: log"},
		"at least once":          {g: atLeast, server: map[string]any{}},
		"attached":               {g: onDisk},
	} {
		config := livetest.Config(t, "rocketmq", driver.Target{Server: c.server}, c.g, nil, nil)
		err := livetest.Kind(t, "rocketmq").Refusal(config, driver.Shape{Topics: 1, Partitions: 1})
		if c.names != "" {
			livetest.Refused(t, err, c.names)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if asked, err := server(onDisk, map[string]any{"jvm.Xmx": "1g"}); err != nil || asked[flushing] != flushSync || asked["jvm.Xmx"] != "1g" {
		t.Errorf("a server for flushed messages is started with %v, %v", asked, err)
	}
	if _, err := server(onDisk, map[string]any{flushing: flushLate}); err == nil {
		t.Error("a server that flushes late was accepted for flushed messages")
	}
}

func TestNamesThatDifferStayApart(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"plain-topic_1", "a.b", "a/b", "a_b", "", ".", strings.Repeat("x", 200), strings.Repeat("x", 201), "ü"} {
		got := name(text)
		if len(got) > longest || got != foreign.ReplaceAllString(got, "") {
			t.Errorf("%q becomes %q", text, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %q both become %q", text, other, got)
		}
		seen[got] = text
	}
	if got := name("plain-topic_1"); got != "plain-topic_1" {
		t.Errorf("a name that may stay becomes %q", got)
	}
}

// reply is a frame as the broker answers it.
func reply(head string, body string) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(head)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(head)))
	return append(append(frame, head...), body...)
}

func TestRepliesOfTheBrokerAreReadOrRefused(t *testing.T) {
	h, body, err := readFrame(bytes.NewReader(reply(`{"code":17,"opaque":3,"remark":"no topic","extFields":{"a":"b"}}`, "text")), 3)
	if err != nil || h.Code != 17 || h.Remark != "no topic" || string(body) != "text" {
		t.Errorf("%+v, %q, %v", h, body, err)
	}
	for what, frame := range map[string][]byte{
		"of another request":    reply(`{"code":0,"opaque":4}`, ""),
		"cut short":             reply(`{"code":0,"opaque":3}`, "text")[:20],
		"no JSON":               reply(`code=0`, ""),
		"another coding":        {0, 0, 0, 10, 1, 0, 0, 2, '{', '}', 0, 0, 0, 0},
		"a header beyond it":    {0, 0, 0, 6, 0, 0, 0, 9, '{', '}'},
		"too long to be true":   {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 2, '{', '}'},
		"shorter than a length": {0, 0, 0, 1, 0, 0, 0, 0},
		"of HTTP":               []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
	} {
		if _, _, err := readFrame(bytes.NewReader(frame), 3); err == nil {
			t.Errorf("a reply %s was accepted", what)
		}
	}
}
