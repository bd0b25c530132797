package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// theUps starts a broker that stays until the test ends and returns the flags to attach to it.
func theUps(t *testing.T, args ...string) []string {
	t.Helper()
	up := brokermark(t, append([]string{"broker", "up"}, args...)...).want(t, 0)
	id := strings.Fields(up.out[strings.LastIndex(up.out, "broker down "):])[2]
	t.Cleanup(func() { brokermark(t, "broker", "down", id).want(t, 0) })
	_, rest, found := strings.Cut(up.out, "--attach ")
	if !found {
		t.Fatalf("no way to attach in: %s", up.out)
	}
	line, _, _ := strings.Cut(rest, "\n")
	return append([]string{"--attach"}, strings.Fields(line)...)
}

func TestTheCommandThatUpPrintsMeasuresWhatItStarted(t *testing.T) {
	testkit.Live(t)
	t.Setenv("BROKERMARK_HOME", "")                                              // where Redis is compiled already
	for _, broker := range []string{"redis", "redis-pubsub", "nats-streaming"} { // whose addresses alone are not enough
		t.Run(broker, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			list := brokermark(t, count(broker, append(theUps(t, broker), "--store", path, "--format", "jsonl")...)...).want(t, 0).objects(t)
			if len(list) != 1 || list[0]["received"] != 200.0 {
				t.Errorf("%v; want one repetition that received 200", list)
			}
		})
	}
}

func TestTLSIsAnAxis(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	list := brokermark(t, count("nats", "--tls", "off,on,mutual", "--store", path, "--format", "jsonl")...).want(t, 0).objects(t)
	if len(list) != 3 {
		t.Fatalf("%d repetitions, want 3: %v", len(list), list)
	}
	for _, o := range list {
		if o["received"] != 200.0 {
			t.Errorf("received %v, want 200: %v", o["received"], o)
		}
	}
	negotiated := map[any]any{}
	for _, o := range brokermark(t, "export", "--store", path).want(t, 0).objects(t) {
		negotiated[o["spec"].(map[string]any)["tls"]] = o["versions"].(map[string]any)["tls"]
	}
	if negotiated["off"] != nil || negotiated["on"] != "TLS 1.3, TLS_AES_128_GCM_SHA256" || negotiated["mutual"] != negotiated["on"] {
		t.Errorf("negotiated: %v", negotiated)
	}
	refused := brokermark(t, short("--tls", "on", "--store", path)...).want(t, 2)
	complains(t, refused, "nothing was measured: every point was refused")
	if !strings.Contains(refused.err, "tls: on is not supported: sim runs in this process") {
		t.Errorf("no reason in: %s", refused.err)
	}
	nothingRuns(t)
}

func TestAGuardedBrokerLetsInWhoHasEverything(t *testing.T) {
	const secret = "s3same-never-written"
	t.Setenv("BROKER_PASSWORD", secret)
	t.Setenv("OLD_PASSWORD", "wrong-one-never-written")
	dir := t.TempDir()
	path, passwordFile := filepath.Join(dir, "s.db"), filepath.Join(dir, "password")
	if err := os.WriteFile(passwordFile, []byte(secret+"\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	let := theUps(t, "nats", "--tls", "mutual", "--user", "alice", "--password-env", "BROKER_PASSWORD")
	with := func(old, new string) []string {
		t.Helper()
		line := strings.Join(let, " ")
		if !strings.Contains(line, old) {
			t.Fatalf("no %q in %q", old, line)
		}
		return strings.Fields(strings.ReplaceAll(line, old, new))
	}
	run := func(login []string) result {
		return brokermark(t, count("nats", append(slices.Clone(login), "--again", "--store", path, "--format", "jsonl")...)...)
	}
	for name, login := range map[string][]string{"from the environment": let, "from a file": with("--password-env BROKER_PASSWORD", "--password-file "+passwordFile)} {
		t.Run(name, func(t *testing.T) {
			if o := run(login).want(t, 0).objects(t)[0]; o["received"] != 200.0 {
				t.Errorf("received %v, want 200", o["received"])
			}
		})
	}
	plain := theUps(t, "nats")
	certificates := strings.Join(let[2:], " ")
	certificates = certificates[:strings.Index(certificates, " --user")]
	for name, c := range map[string]struct {
		login []string
		says  string
	}{
		"a wrong password":      {with("BROKER_PASSWORD", "OLD_PASSWORD"), `refused the credentials of user "alice"`},
		"no login":              {with("--user alice --password-env BROKER_PASSWORD", ""), "demands credentials, and none were given"},
		"no client certificate": {strings.Fields(strings.Split(strings.Replace(strings.Join(let, " "), "--tls mutual", "--tls on", 1), "--cert-file")[0]), "the broker demands a client certificate"},
		"no TLS":                {let[:2], "this port speaks TLS, but TLS was not asked for"},
		"TLS, plain port":       {append(slices.Clone(plain), strings.Fields(certificates)...), "TLS was asked for, but this is a plain port"},
		"another authority":     {with(let[5], writeCA(t, dir)), "the broker's certificate is not trusted; caFile (--ca-file FILE) names the authority that signed it"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(c.login).want(t, 3)
			complains(t, r, "1 of 1 repetition found no broker")
			if !strings.Contains(r.err, c.says) {
				t.Errorf("no %q in: %s", c.says, r.err)
			}
		})
	}
	for _, name := range []string{path, path + "-wal"} {
		if text, err := os.ReadFile(name); err == nil && (strings.Contains(string(text), secret) || strings.Contains(string(text), "wrong-one")) {
			t.Errorf("a password is in %s", name)
		}
	}
}

// writeCA keeps the certificate of an authority that has signed nothing.
func writeCA(t *testing.T, dir string) string {
	t.Helper()
	other := theUps(t, "nats", "--tls", "on")
	text, err := os.ReadFile(other[5])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "other.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// On a terminal both outputs are seen.
func TestAFailedAttachmentPrintsItsCauseOnce(t *testing.T) {
	secured := theUps(t, "nats", "--tls", "on")
	untrusted := append(slices.Clone(secured[:2]), "--tls", "on")
	for name, c := range map[string]struct {
		login  []string
		says   string
		causes int
	}{
		"a closed port":          {[]string{"--attach", "127.0.0.1:1"}, "nats at 127.0.0.1:1 is unreachable: connection refused", 1},
		"a closed port, twice":   {[]string{"--attach", "127.0.0.1:1", "--size", "100,200"}, "127.0.0.1:1 is unreachable: connection refused", 2},
		"an untrusted authority": {untrusted, "the broker's certificate is not trusted; caFile (--ca-file FILE)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := brokermark(t, count("nats", append(c.login, "--store", filepath.Join(t.TempDir(), "s.db"))...)...).want(t, 3)
			said := r.out + r.err
			if strings.Count(said, c.says) != c.causes {
				t.Errorf("%q stands there %d times, want %d:\n%s", c.says, strings.Count(said, c.says), c.causes, said)
			}
			for _, noise := range []string{"dial tcp", "x509", "connect to nats"} {
				if strings.Contains(said, noise) {
					t.Errorf("it says %q:\n%s", noise, said)
				}
			}
		})
	}
}
