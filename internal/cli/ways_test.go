package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// natsServer is a server of this process, which asks who comes.
func natsServer(t *testing.T, o server.Options) (address string) {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", -1, true, true
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server isn't ready")
	}
	return s.Addr().String()
}

func TestTokensAndKeysLetInAndAreWrittenNowhere(t *testing.T) {
	const token = "t0ken-never-written"
	seeds := make([]string, 2)
	var public string
	for i := range seeds {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, _ := pair.Seed()
		if seeds[i] = string(seed); i == 0 {
			public, _ = pair.PublicKey()
		}
	}
	for name, c := range map[string]struct {
		server        server.Options
		secret, wrong string
		says          string
	}{
		"token": {server.Options{Authorization: token}, token, "wr0ng-never-written", "refused the token"},
		"nkey":  {server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}}, seeds[0], seeds[1], "refused the nkey"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, file := filepath.Join(dir, "s.db"), filepath.Join(dir, "secret")
			write(t, file, c.secret+"\n")
			t.Setenv("RIGHT", c.secret)
			t.Setenv("WRONG", c.wrong)
			run := func(args ...string) result {
				return brokermark(t, count("nats", append(args, "--attach", natsServer(t, c.server), "--login", name, "--again", "--store", store, "--format", "jsonl")...)...)
			}
			for _, args := range [][]string{{"--password-file", file}, {"--password-env", "RIGHT", "--set", "consumersApart=true"}} {
				if list := run(args...).want(t, 0).objects(t); len(list) != 1 || list[0]["received"] != 200.0 {
					t.Errorf("%q: %v; want 200 received", args, list)
				}
			}
			refused := run("--password-env", "WRONG").want(t, 3)
			if !strings.Contains(refused.err, c.says) {
				t.Errorf("no %q in: %s", c.says, refused.err)
			}
			written := refused.out + refused.err + brokermark(t, "export", "--store", store).want(t, 0).out
			for _, name := range []string{store, store + "-wal"} {
				text, _ := os.ReadFile(name) // one of them may be there alone
				written += string(text)
			}
			for _, secret := range []string{c.secret, c.wrong} {
				if strings.Contains(written, secret) {
					t.Error("a secret is written")
				}
			}
		})
	}
	r := brokermark(t, "check", "--broker", "nats", "--attach", "a:1", "--login", "token", "--password-env", "RIGHT", "--user", "eve").want(t, 2)
	if !strings.Contains(r.err, "login: token has no user") {
		t.Errorf("said: %s", r.err)
	}
}
