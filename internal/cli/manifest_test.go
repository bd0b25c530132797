package cli_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// job is of a manifest what a test needs.
type job struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Args []string
					Env  []struct{ Name string }
				}
			}
		}
	}
}

// pod is the command line of a manifest's pod, with an environment that holds the token and nothing else.
func pod(t *testing.T, text, token string) (args, env []string) {
	t.Helper()
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var j job
		if err := d.Decode(&j); err != nil {
			t.Fatalf("%v: no Job in\n%s", err, text)
		}
		if j.Kind == "Job" {
			c := j.Spec.Template.Spec.Containers[0]
			return c.Args, []string{c.Env[0].Name + "=" + token}
		}
	}
}

// The command line of a pod is run as it stands, beside a run that waits for an agent of another machine: by this machine's own name.
func TestThePodsOfAManifestWorkForARun(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.db")
	run := start(t, "run", "--broker", "nats", "--rate", "500", "--set", "warmup.for=200ms", "--duration", "1s", "--agents", "1", "--control", "127.0.0.1:0", "--store", path)
	var with []string
	until(t, "the run says how to join", func() bool { with = joinWith.FindStringSubmatch(run.text()); return with != nil })
	at := with[1]
	r := brokermark(t, "agent", "manifest", "--image", "brokermark:test", "--agents", "1", "--control", strings.Replace(at, "127.0.0.1", host, 1)).want(t, 0)
	if strings.Contains(r.out, "stringData") {
		t.Errorf("a token that nobody asked for:\n%s", r.out)
	}
	text, err := os.ReadFile(with[2])
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := strings.Cut(string(text), "\n")
	if out := brokermark(t, "agent", "manifest", "--image", "brokermark:test", "--control", strings.Replace(at, "127.0.0.1", host, 1), "--with-token", with[2]).want(t, 0).out; !strings.Contains(out, token) {
		t.Errorf("no token in:\n%s", out)
	}
	args, env := pod(t, r.out, token)
	for i := range args { // the run listens on the loopback only
		args[i] = strings.Replace(args[i], "//"+host+":", "//127.0.0.1:", 1)
	}
	agent := exec.Command(os.Args[0], args...)
	agent.Env = append(env, asProgram+"=1")
	said, err := agent.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill() })
	for lines := bufio.NewScanner(said); lines.Scan(); {
		t.Log("agent: ", lines.Text())
	}
	if code := exitCode(t, agent); code != 0 {
		t.Errorf("the pod ended with %d", code)
	}
	if code := exitCode(t, run.Cmd); code != 0 && code != 5 {
		t.Fatalf("exit code %d", code)
	}
	if r := records(t, path)[0]; r.Result.Books.Received != 500 || len(r.Agents) != 1 {
		t.Errorf("%+v, %+v", r.Result.Books, r.Agents)
	}
}

func TestAManifestThatNoClusterCouldUseIsRefused(t *testing.T) {
	const pin = "?pin=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, c := range []struct{ args, want string }{
		{"--control nats://bench:4248" + pin, "--image and --control are needed"},
		{"--image b --agents 0 --control nats://bench:4248" + pin, "--agents 0: allowed is 1 or more"},
		{"--image b --cpus 0 --control nats://bench:4248" + pin, "--cpus 0: allowed is 1 or more"},
		{"--image -b --control nats://bench:4248" + pin, `--image "-b"`},
		{"--image b --name A_B --control nats://bench:4248" + pin, `--name "A_B": allowed are`},
		{"--image b --control nats://127.0.0.1:4248" + pin, "127.0.0.1 is the pod itself"},
		{"--image b --control nats://bench:4248", "encrypted only"},
		{"--image b --control nats://bench:4248?ca=ca.pem", "no pod has the file ca.pem"},
		{"--image b --with-token missing --control nats://bench:4248" + pin, "token file"},
	} {
		if r := brokermark(t, append([]string{"agent", "manifest"}, strings.Fields(c.args)...)...); r.code != 2 || !strings.Contains(r.err, c.want) || r.out != "" {
			t.Errorf("%s: exit code %d, %s; want %q", c.args, r.code, r.err, c.want)
		}
	}
}

func TestATokenIsTakenFromOnePlace(t *testing.T) {
	t.Setenv("SHORT", "x")
	for args, want := range map[string]string{
		"--token-env SHORT --token-file f": "give one of them",
		"--token-env SHORT":                "environment variable SHORT: its first line has to be a token of at least 16 characters",
		"--token-env NOT_THERE":            "environment variable NOT_THERE",
	} {
		if r := brokermark(t, append([]string{"agent", "list", "--join", "nats://127.0.0.1:1"}, strings.Fields(args)...)...); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit code %d, %s; want %q", args, r.code, r.err, want)
		}
	}
}
