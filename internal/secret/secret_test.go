package secret

import (
	"strings"
	"testing"
)

func TestSecretsAreTakenOutWhereverTheyStand(t *testing.T) {
	for given, want := range map[string]string{
		"postgres://u:s3cr3t@h/db":                   "postgres://u:xxxxx@h/db",
		"postgres:/u:s3cr3t@h/db":                    "postgres:/u:xxxxx@h/db",
		"postgres://u:s3/c@r3t@h/db":                 "postgres://u:xxxxx@h/db",
		"see postgresql://u:s3cr3t@h/db, then":       "see postgresql://u:xxxxx@h/db, then",
		"postgres://h/db?user=u&password=s3cr3t&a=1": "postgres://h/db?user=u&password=xxxxx&a=1",
		"postgres://h/db?sslpassword=s3cr3t":         "postgres://h/db?sslpassword=xxxxx",
		"host=db password=s3cr3t dbname=x":           "host=db password=xxxxx dbname=x",
		"host=db password='s3 cr3t' dbname=x":        "host=db password=xxxxx dbname=x",
		"host=db passwd=\"s3 cr3t\"":                 "host=db passwd=xxxxx",
		"--set 'server.requirepass=s3cr3t': no":      "--set 'server.requirepass=xxxxx': no",
		"--set server.default_pass=s3cr3t":           "--set server.default_pass=xxxxx",
		"nats://s3cr3t@h:4222":                       "nats://xxxxx@h:4222",
		"nats://u:s3cr3t@h:4222,nats://b:4222":       "nats://u:xxxxx@h:4222,nats://b:4222",
		"--attach s3cr3t@h:4222: attach":             "--attach xxxxx@h:4222: attach",
		"redis://:s3cr3t@h:1":                        "redis://:xxxxx@h:1",
		"postgres:u:s3cr3t@h/db":                     "postgres:xxxxx@h/db",
		"postgresql//u:s3cr3t@h:1/db":                "postgresql//u:xxxxx@h:1/db",
		"store postgres:u:s3/c@r3t@h/db is no URL":   "store postgres:xxxxx@h/db is no URL",
		"u:s3cr3t@h/db":                              "u:xxxxx@h/db",
		"--store=u:s3cr3t@10.0.0.1:5432/db":          "--store=u:xxxxx@10.0.0.1:5432/db",
		"store u:s3c@r3t@[::1]:5432/db doesn't":      "store u:xxxxx@[::1]:5432/db doesn't",
	} {
		if got := Redact(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
		if !In(given) || In(want) || strings.Contains(Redact(given), "cr3t") {
			t.Errorf("%q isn't told from %q", given, want)
		}
	}
}

func TestTokensAndSeedsAreKnownByTheirForm(t *testing.T) {
	for _, c := range [][2]string{
		{"Authorization: Bearer eyJhbGciOiJub25lIn0.s3cr3t.", "Authorization: Bearer xxxxx"},
		{"token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJiIn0.Zm9v-s3cr3t is stale", "token xxxxx is stale"},
		{"seed:\nSUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n------END", "seed:\nxxxxx\n------END"},
		{"--set client.x=eyJhbGciOiJub25lIn0.s3cr3t.", "--set client.x=xxxxx"},
	} {
		if got := Redact(c[0]); got != c[1] || !In(c[0]) || In(c[1]) {
			t.Errorf("%q becomes %q, want %q", c[0], got, c[1])
		}
	}
}

func TestOtherTextStaysAsItIs(t *testing.T) {
	for _, text := range []string{
		"", "results:2026.db", "a.db", "postgres://team@db/bench", "postgres://db:5432/bench?sslmode=disable",
		"user: no password; passwordEnv names an environment variable that holds it", "--password-env BENCH_PASSWORD", "passwordEnv=BENCH_PASSWORD",
		"pulsar@4.0.8 = 3", "kafka@4.3.1", "http://127.0.0.1:8080/", "--broker kafka@4.3.1", "--attach a:1,b:2", "--where broker=kafka",
		"postgres//db:5432/bench", "team@db:5432/bench", "stdin:3: broker: kafka@4.3.1/x", "image:4.3@sha256:12ab/x",
		"UACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3V", "eyJ.x", "a file of SUMMARIES.OF.EYJ",
		"password_file=/etc/passwords", "delegation.token.max.lifetime.ms=5",
	} {
		if got := Redact(text); got != text || In(text) {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestSettingsThatHoldASecretAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]bool{
		"requirepass": true, "masterauth": true, "default_pass": true, "ssl_options.password": true, "ssl.keystore.password": true,
		"authorization.token": true, "authorization.password": true, "keyStorePassword": true, "brokerClientAuthenticationToken": true,
		"listener.name.client.plain.sasl.jaas.config": true, "password.encoder.secret": true, "delegation.token.master.key": true, "jvm.Dmy.password": true,
		"cluster-password": true, "streaming.credentials": true,
		"delegation.token.max.lifetime.ms": false, "maxmemory": false, "bypass": false, "compass": false, "password_file": false,
		"password.encoder.iterations": false, "passwordEnv": false, "ssl.truststore.location": false, "": false, "tokens.per.second": false,
		"auto.create.topics.enable": false, "jvm.Xmx": false, "transaction.state.log.replication.factor": false,
	} {
		if Name(name) != want {
			t.Errorf("%q holds a secret: %v, want %v", name, !want, want)
		}
	}
}
