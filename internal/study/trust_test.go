package study

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAnUntrustedDocumentRunsNothingAndSendsNoSecretOfThisMachine(t *testing.T) {
	const settings = "f.yaml:2: server.%: it may have the broker load code, run commands, use files or listen; if you trust the document, say --trust-spec"
	for name, c := range map[string]struct{ text, says string }{
		"a password of the environment": {"attach: ['evil:1']\nuser: u\npasswordEnv: AWS_SECRET", "f.yaml:3: passwordEnv: it sends a secret of yours where the document says; name it with a flag, or trust the document with --trust-spec"},
		"a password of a file":          {"attach: ['evil:1']\nuser: u\npasswordFile: /etc/shadow", "f.yaml:3: passwordFile: it sends"},
		"an endpoint of tokens":         {"attach: ['a:1']\nlogin: oauth\nuser: u\npasswordEnv: PW\noauth.url: 'https://evil/t'", "f.yaml:5: oauth.url: it sends a secret of yours where the document says"},
		"a scope of tokens":             {"attach: ['a:1']\nlogin: oauth\nuser: u\npasswordEnv: PW\noauth: {url: 'https://evil/t', scope: admin}", "oauth.scope: it sends"},
		"an authority":                  {"attach: ['evil:1']\ntls: on\ncaFile: evil.pem", "f.yaml:3: caFile: it says with whose key you log in, and whom you believe"},
		"a client's certificate":        {"attach: ['evil:1']\ntls: mutual\ncertFile: /home/me/c.pem\nkeyFile: /home/me/k.pem", "f.yaml:3: certFile: it says"},
		"a client's key":                {"attach: ['evil:1']\ntls: mutual\ncertFile: /home/me/c.pem\nkeyFile: /home/me/k.pem", "f.yaml:4: keyFile: it says"},
		"a command of java":             {"broker: kafka\nserver: {'jvm.XX:OnOutOfMemoryError': 'sh -c x'}", settings},
		"a number that is a command":    {"broker: kafka\nserver: {'jvm.XX:OnError': 'sh'}", settings},
		"a listener of java":            {"broker: kafka\nserver: {'jvm.XX:+ManagementServer': true}", settings},
		"a file of java":                {"broker: kafka\nserver: {'jvm.XX:Flags': 1}", settings},
		"a size that is a path":         {"broker: kafka\nserver: {'jvm.XX:MaxMetaspaceSize': /x}", `server.jvm.XX:MaxMetaspaceSize: "/x" may be a path`},
		"classes from elsewhere":        {"broker: kafka\nserver: {'jvm.Xbootclasspath/a': ':/tmp/x.jar'}", settings},
		"a property of java":            {"broker: kafka\nserver: {'jvm.Djava.system.class.loader': X}", settings},
		"a module":                      {"broker: redis\nserver: {loadmodule: /tmp/x.so}", settings},
		"a plugin":                      {"broker: mosquitto\nserver: {plugin: /tmp/x.so}", settings},
		"a class":                       {"broker: kafka\nserver: {metric.reporters: x.Y}", settings},
		"a log file":                    {"broker: nats\nserver: {logfile: /home/me/.bashrc}", settings},
		"in capitals":                   {"broker: nats\nserver: {LOGFILE: x}", settings},
		"a listener":                    {"broker: nats\nserver: {websocket.port: 8080}", settings},
		"an unknown setting":            {"broker: nats\nserver: {brand.new: 1}", settings},
		"on an axis":                    {"broker: redis\naxes: {server.loadmodule: [/tmp/x.so, /tmp/y.so]}", settings},
		"a path":                        {"broker: kafka\nserver: {compression.type: ../x}", `f.yaml:2: server.compression.type: "../x" may be a path, an address or an expression; if you trust the document, say --trust-spec`},
		"an address":                    {"broker: kafka\nserver: {compression.type: 'http://h'}", "server.compression.type: "},
		"a variable":                    {"broker: kafka\nserver: {compression.type: 'a${env:X}'}", "server.compression.type: "},
		"an expression":                 {"broker: kafka\nserver: {compression.type: 'x#{T(java.lang.Runtime)}'}", "server.compression.type: "},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Parse("f.yaml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Points(); err != nil {
				t.Errorf("trusted: %v", err)
			}
			s.Distrusted = true
			before, after, _ := strings.Cut(c.says, "%")
			if _, err := s.Points(); err == nil || !strings.Contains(err.Error(), before) || !strings.Contains(err.Error(), after) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// stranger is a folder of somebody else beside secrets of this machine, as an unpacked archive puts it.
func stranger(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, folder := range []string{"evil/rides", "secret", "payload", "workloads", "linked/workloads"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var errs []error
	for _, file := range []string{"evil/ride.json", "evil/rides/1", "secret/key", "payload/ride.json", "workloads/own.json"} {
		errs = append(errs, os.WriteFile(filepath.Join(dir, file), []byte("0123456789"), 0o600))
	}
	for link, to := range map[string]string{
		"evil/link": "../secret/key", "evil/absolute": filepath.Join(dir, "secret"), "evil/rides/out": "../../secret/key", "payload/out": "../secret/key",
		"linked/payload": "../secret", "evil/inside": "ride.json",
	} {
		errs = append(errs, os.Symlink(to, filepath.Join(dir, link)))
	}
	errs = append(errs, syscall.Mkfifo(filepath.Join(dir, "evil/pipe"), 0o600), os.Symlink("/dev/zero", filepath.Join(dir, "evil/zero")),
		os.Truncate(filepath.Join(dir, "secret/key"), 20))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestADocumentOfAStrangerReadsItsOwnFolderOnly(t *testing.T) {
	dir := stranger(t)
	t.Chdir(filepath.Join(dir, "secret")) // from where a file could be found, too
	const outside = "is outside of the document's own folder"
	for _, c := range []struct{ document, payload, says string }{
		{"evil", "ride.json", ""},
		{"evil", "inside", ""},
		{"evil", "./rides/1", ""},
		{"workloads", "payload/ride.json", ""},
		{"workloads", "own.json", ""}, // as the OpenMessaging Benchmark has them
		{"evil", filepath.Join(dir, "secret/key"), outside},
		{"evil", filepath.Join(dir, "evil/ride.json"), outside},
		{"evil", "/proc/self/environ", outside},
		{"evil", "/proc/kmsg", outside},
		{"evil", "../secret/key", outside},
		{"evil", "rides/../../secret", outside},
		{"evil", "..", outside},
		{"", "key", outside},
		{"evil", "key", `no file or directory "key" beside the document`},
		{"evil", "link", "path escapes from parent"},
		{"evil", "absolute", "path escapes from parent"},
		{"evil", "absolute/key", "path escapes from parent"},
		{"evil", "rides", "path escapes from parent"},
		{"workloads", "payload/out", "path escapes from parent"},
		{"workloads", "payload/../secret/key", "no file or directory"},
		{"workloads", "secret/key", "no file or directory"},
		{"linked/workloads", "payload/key", "no file or directory"},
		{"evil", "pipe", "no payload in"},
		{"evil", "zero", "path escapes from parent"},
	} {
		folder := filepath.Join(dir, c.document)
		if c.document == "" { // a pipe
			folder = ""
		} else if err := os.WriteFile(filepath.Join(folder, "f.yaml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Parse(filepath.Join(folder, "f.yaml"), []byte("broker: kafka\nmeasure: peak\npayloadFile: "+c.payload))
		if err != nil {
			t.Fatal(err)
		}
		s.Distrusted = true
		p, err := s.Points()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %s: %v; want %q", c.payload, c.document, err, c.says)
		}
		if err != nil || c.says != "" {
			continue
		}
		if _, err := os.Stat(p[0].Spec.PayloadFile); err != nil || string(p[0].Payloads[0]) != "0123456789" {
			t.Errorf("%s of %s: %v, %s", c.payload, c.document, p[0].Spec, err)
		}
	}
}

func TestAnUntrustedDocumentSendsNoFileToABrokerThatItNames(t *testing.T) {
	path := filepath.Join(stranger(t), "evil", "f.yaml")
	for _, c := range []struct {
		text, set string
		trusted   bool
		says      string
	}{
		{"payloadFile: ride.json\nattach: ['evil:1']", "", false, ":1: payloadFile: it sends a file of yours where the document says"},
		{"payloadFile: missing\nattach: ['evil:1']", "", false, ":1: payloadFile: it sends"}, // nothing is looked for
		{"payloadFile: ride.json\naxes: {attach: ['evil:1', 'evil:2']}", "", false, "payloadFile: it sends"},
		{"useRandomizedPayloads: true\npayloadFile: ride.json\nattach: ['evil:1']", "", false, ""}, // it is not read
		{"payloadFile: ride.json\nattach: ['evil:1']", "", true, ""},
		{"payloadFile: ride.json", "attach=[a:1]", false, ""},
		{"attach: ['evil:1']", "payloadFile=ride.json", false, ""},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Parse(path, []byte(c.text+"\nmeasure: peak"))
		if err != nil {
			t.Fatal(err)
		}
		s.Distrusted = !c.trusted
		if c.set != "" {
			if err := s.Set(c.set); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Points(); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q %q: %v; want %q", c.text, c.set, err, c.says)
		}
	}
}

// Some drivers ask a second address, such as Pulsar's admin interface, and show it the login of the first.
func TestAnUntrustedDocumentSendsNoLoginToAnAddressThatItNames(t *testing.T) {
	const says = `f.yaml:2: client.webServiceUrl: "http://evil" may be an address, which your login would be shown to`
	flags := []string{"attach=[a:1]", "login=token", "passwordFile=t"}
	for _, c := range []struct {
		text  string
		flags []string
		says  string
	}{
		{"broker: pulsar\nclient: {webServiceUrl: 'http://evil'}", flags, says},
		{"broker: pulsar\nclient: {webServiceUrl: 'http://evil'}", []string{"attach=[a:1]", "user=u", "passwordEnv=PW"}, says},
		{"broker: pulsar\naxes: {client.webServiceUrl: ['http://evil', 'http://b']}", flags, "client.webServiceUrl: "},
		{"broker: rocketmq\nclient: {brokerAddr: 'evil:10911'}", []string{"attach=[a:1]", "user=u", "passwordEnv=PW"}, "client.brokerAddr: "},
		{"broker: pulsar\nclient: {webServiceUrl: 'http://evil'}", flags[:1], ""}, // which learns nothing
		{"broker: pulsar\nclient: {sendTimeout: 5s}", flags, ""},
		{"broker: pulsar", append(flags, "client.webServiceUrl=http://mine"), ""},
	} {
		s, err := Parse("f.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		s.Distrusted = true
		for _, flag := range c.flags {
			if err := s.Set(flag); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Points(); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q %q: %v; want %q", c.text, c.flags, err, c.says)
		}
	}
}

func TestWhatADocumentUsuallySetsNeedsNoTrust(t *testing.T) {
	text := `
broker: kafka
server: {jvm.Xmx: 2g, jvm.Xms: 512M, 'jvm.XX:+UseZGC': true, 'jvm.XX:MaxGCPauseMillis': 20, num.io.threads: 4, log.flush.interval.messages: 1, compression.type: lz4}
`
	s, err := Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Distrusted = true
	if _, err := s.Points(); err != nil {
		t.Error(err)
	}
	// What stands in a flag is the user's own.
	for _, set := range []string{"server.jvm.XX:OnError=sh", "attach=[a:1]"} {
		s, _ := Parse("f.yaml", []byte("broker: kafka"))
		s.Distrusted = true
		if err := s.Set(set); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Points(); err != nil {
			t.Errorf("%s: %v", set, err)
		}
	}
}

func TestASettingThatIsALineBreakAndAnotherIsRefused(t *testing.T) {
	for _, text := range []string{
		"broker: rabbitmq\nserver: {default_vhost: \"/\\nlisteners.tcp.2 = 0.0.0.0:5672\"}",
		"broker: kafka\nserver: {\"listener.name.x\\nlisteners\": \"PLAINTEXT://:9092\"}",
		"broker: pulsar\nserver: {\"bookkeeper_x\\rbindAddress\": 0.0.0.0}",
		"broker: redis\nserver: {maxmemory: \"1\\0\"}",
		"broker: rabbitmq\nclient: {vhost: \"/\\nacks=0\"}",
		"broker: kafka\ntopicConfig: {\"a\\nb\": 1}",
	} {
		s, err := Parse("f.yaml", []byte(text))
		if err == nil {
			_, err = s.Points()
		}
		if err == nil || !strings.Contains(err.Error(), " one line, without control characters") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestADriverFileIsTrustedNoMoreThanTheDocument(t *testing.T) {
	s := New("driver")
	s.Distrusted = true
	if err := s.SetFrom("driver.yaml", "broker", "nats"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetFrom("driver.yaml", "server.log_file", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Points(); err == nil || !strings.Contains(err.Error(), "driver.yaml: server.log_file: it may have the broker load code") {
		t.Errorf("of a driver file: %v", err)
	}
}
