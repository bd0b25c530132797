package study

import (
	"strings"
	"testing"
)

func TestADocumentOfAStrangerRunsNothingAndSendsNoSecretOfThisMachine(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"a password of the environment": {"attach: ['evil:1']\nuser: u\npasswordEnv: AWS_SECRET", "f.yaml:3: passwordEnv: it sends a secret of yours where the document says; name it with a flag, or trust the document with --trust-spec"},
		"a password of a file":          {"attach: ['evil:1']\nuser: u\npasswordFile: /etc/shadow", "f.yaml:3: passwordFile: it sends"},
		"a command of java":             {"broker: kafka\nserver: {'jvm.XX:OnOutOfMemoryError': 'sh -c x'}", "f.yaml:2: server.jvm.XX:OnOutOfMemoryError: it may have the broker load code, run commands or read files; if you trust the document, say --trust-spec"},
		"a number that is a command":    {"broker: kafka\nserver: {'jvm.XX:OnError': 'sh'}", "server.jvm.XX:OnError: it may"},
		"classes from elsewhere":        {"broker: kafka\nserver: {'jvm.Xbootclasspath/a': ':/tmp/x.jar'}", "server.jvm.Xbootclasspath/a: it may"},
		"a property of java":            {"broker: kafka\nserver: {'jvm.Djava.system.class.loader': X}", "it may have"},
		"a module":                      {"broker: redis\nserver: {loadmodule: /tmp/x.so}", "server.loadmodule: it may"},
		"a plugin":                      {"broker: mosquitto\nserver: {plugin: /tmp/x.so}", "server.plugin: it may"},
		"a class":                       {"broker: kafka\nserver: {metric.reporters: x.Y}", "server.metric.reporters: it may"},
		"on an axis":                    {"broker: redis\naxes: {server.loadmodule: [/tmp/x.so, /tmp/y.so]}", "server.loadmodule: it may"},
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
			if _, err := s.Points(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestWhatADocumentUsuallySetsNeedsNoTrust(t *testing.T) {
	text := `
broker: kafka
server: {jvm.Xmx: 2g, jvm.Xms: 512M, 'jvm.XX:+UseZGC': true, 'jvm.XX:MaxGCPauseMillis': 20, num.io.threads: 4, log.flush.interval.messages: 1}
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
	} {
		s, err := Parse("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Points(); err == nil || !strings.Contains(err.Error(), "its name and value must be one line, without control characters") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
