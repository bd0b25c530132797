package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// An ending is a way in which the program can go, with the exit code that it has; -1 is death by the signal.
type ending struct {
	name    string
	signals []syscall.Signal
	toEach  bool // process of the program's group, as a terminal sends them
	code    int
}

var endings = []ending{
	{"Ctrl-C", []syscall.Signal{syscall.SIGINT}, true, 130},
	{"Ctrl-C twice", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, true, 130},
	{"SIGTERM", []syscall.Signal{syscall.SIGTERM}, false, 143},
	{"a closed terminal", []syscall.Signal{syscall.SIGHUP}, true, 129},
	{"SIGKILL", []syscall.Signal{syscall.SIGKILL}, false, -1},
	{"a crash", []syscall.Signal{syscall.SIGABRT}, false, 1}, // with a dump, as after a panic in a goroutine of a client library
}

// However the program ends, no process of a broker, no directory and no temporary file stays, and what was finished can
// be read. A directory that nobody guarded when the program was killed goes with the next command. With BROKERMARK_LONG also for brokers
// that are several processes: launchers, Erlang's port mapper, clusters. Every other kind of broker is interrupted under load; without
// BROKERMARK_LONG, those that need no installation.
func TestNothingIsLeftHoweverTheProgramEnds(t *testing.T) {
	brokers := [][]string{{"nats"}}
	if testkit.Thorough() {
		t.Setenv("BROKERMARK_HOME", "") // installations are there, not in the home of these tests
		brokers = [][]string{{"nats", "--nodes", "3"}, {"mosquitto"}, {"rabbitmq", "--nodes", "3"}, {"artemis"}, {"pulsar"}}
	}
	for _, b := range brokers {
		for _, moment := range []string{"starting", "loaded"} {
			for _, e := range endings {
				t.Run(fmt.Sprintf("%s, %s, %s", strings.Join(b, " "), moment, e.name), func(t *testing.T) { requireCleanEnd(t, b, moment, e) })
			}
		}
	}
	for _, name := range catalog.Names() {
		r, isStarted := catalog.Started(name)
		isListed := slices.ContainsFunc(brokers, func(b []string) bool { return slices.Equal(b, []string{name}) })
		if !isStarted || isListed {
			continue
		}
		interrupt := endings[0]
		t.Run(fmt.Sprintf("%s, loaded, %s", name, interrupt.name), func(t *testing.T) {
			if r.Install != nil || len(r.Versions[0].Needs) > 0 {
				testkit.Long(t)
				testkit.Live(t)
				install(t, name)
			}
			requireCleanEnd(t, []string{name}, "loaded", interrupt)
		})
	}
}

// requireCleanEnd begins a run with a broker, ends it at a moment, and looks for what is left.
func requireCleanEnd(t *testing.T, broker []string, moment string, e ending) {
	h := newPlace(t)
	c := h.command(broker)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.start(t, c)
	if moment == "starting" {
		until(t, "a process of the broker is there", func() bool { return len(h.processes()) > 2 }) // the program is two
	} else {
		h.untilStored(t)
		h.untilNext(t) // between two repetitions nothing is there to abort
	}
	to := c.Process.Pid
	if e.toEach {
		to = -to
	}
	for _, s := range e.signals {
		_ = syscall.Kill(to, s)
	}
	if code := exitCode(t, c); code != e.code {
		t.Errorf("exit code %d, want %d", code, e.code)
	}
	if e.name == "a crash" {
		h.requireDump(t)
	}
	h.requireEmpty(t)
	records := h.records(t)
	if moment == "loaded" && len(records) == 0 {
		t.Error("the finished repetition can't be read any more")
	}
	var statuses []string
	for _, r := range records {
		statuses = append(statuses, string(r.Status))
	}
	if aborted := slices.Contains(statuses, string(store.Aborted)); len(e.signals) == 1 && aborted != (e.code > 128) {
		t.Errorf("recorded as aborted: %v, of %q", aborted, statuses)
	}
}

// install makes the installation that runs of a broker use, whose start would wait for it.
func install(t *testing.T, broker string) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err == nil {
		_, err = host.Install(t.Context(), broker, "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The store takes nothing when a repetition has ended. The second signal comes before the store or a file has the record.
func TestASecondSignalDropsNoFinishedRepetition(t *testing.T) {
	h := newPlace(t)
	c := h.begin(t, []string{"nats"})
	h.untilStored(t)
	free := lockStore(t, h, c)
	time.Sleep(4 * time.Second) // the next repetition takes a little more than one
	for range 2 {
		_ = c.Process.Signal(os.Interrupt)
		time.Sleep(200 * time.Millisecond) // two that wait to be seen are one
	}
	if code := exitCode(t, c); code != 130 {
		t.Errorf("exit code %d", code)
	}
	free()
	waiting, _ := filepath.Glob(filepath.Join(h.dir, "brokermark-unstored-*.jsonl")) // the pattern is a good one
	if len(waiting) != 1 {
		t.Fatalf("files of records: %v", waiting)
	}
	if records, err := store.Collect(store.ReadRecords(waiting[0])); err != nil || len(records) != 1 || records[0].Status == store.Aborted || records[0].Result == nil {
		t.Errorf("%d records, %v; want one with a result", len(records), err)
	}
}

// When nobody is left to clear up, the next command does. RabbitMQ is enclosed: below its supervisor is bubblewrap, and below that Erlang,
// of which no process is left even before. The others are a helper beside a broker, and a broker of several processes in one node.
func TestNoProcessIsLeftWhenSupervisorsAndTheProgramAreKilled(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		enclosed bool
	}{
		"consumers apart": {[]string{"nats", "--set", "consumersApart=true"}, false},
		"rabbitmq":        {[]string{"rabbitmq"}, true},
		"pulsar":          {[]string{"pulsar"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.args[0] != "nats" {
				testkit.Live(t)
				testkit.Long(t)
				t.Setenv("BROKERMARK_HOME", "") // where it is installed
			}
			h := newPlace(t)
			h.begin(t, c.args)
			h.untilStored(t)
			h.untilNext(t)
			killed := 0
			kill := func(what string, s syscall.Signal) {
				for _, p := range h.processes() {
					if pid, command, _ := strings.Cut(p, " "); strings.Contains(command, what) {
						number, _ := strconv.Atoi(pid)
						_ = syscall.Kill(number, s)
						killed++
					}
				}
			}
			kill(" run --broker ", syscall.SIGSTOP) // else it would notice that the supervisors are gone, and clear up
			kill("__supervise", syscall.SIGKILL)
			kill(" run --broker ", syscall.SIGKILL)
			if killed < 5 { // twice the process that was started and the one that works, and a supervisor
				t.Errorf("only %d signals were sent", killed)
			}
			until(t, "no process is left", func() bool {
				if !c.enclosed {
					_, err := provision.NewHost(h.dir, nil)
					return err == nil && len(h.processes()) == 0
				}
				return len(h.processes()) == 0
			})
			h.requireEmpty(t)
		})
	}
}

// place is where one run of the program has everything: brokers, temporary files, its store.
type place struct{ dir, store string }

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := ownDir("left")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := place{dir, filepath.Join(dir, "s.db")}
	h.furnish(t)
	return h
}

// furnish makes what is in a place before the program is started.
func (h place) furnish(t *testing.T) {
	t.Helper()
	installs := filepath.Join(provision.DefaultDir(), "install")
	for _, err := range []error{os.Mkdir(h.runs(), 0o755), os.Mkdir(h.temp(), 0o755), os.MkdirAll(installs, 0o755), os.Symlink(installs, filepath.Join(h.dir, "install"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (h place) runs() string { return filepath.Join(h.dir, "run") }
func (h place) temp() string { return filepath.Join(h.dir, "tmp") }

func (h place) begin(t *testing.T, broker []string) *exec.Cmd {
	t.Helper()
	c := h.command(broker)
	h.start(t, c)
	return c
}

// command is a run that has no end.
func (h place) command(broker []string) *exec.Cmd {
	args := append([]string{"run", "--broker"}, broker...)
	args = append(args, "--measure", "rate", "--rate", "200", "--duration", "1s", "--set", "warmup=0s", "--repeat", "1000", "--store", h.store)
	if broker[0] == withPostgres {
		args = []string{"run", filepath.Join("testdata", "postgres.yaml"), "--repeat", "1000", "--store", h.store}
	}
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1", "BROKERMARK_HOME="+h.dir, "TMPDIR="+h.temp())
	return c
}

func (h place) start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
}

// processes are those that have the place in their environment, or work in it.
func (h place) processes() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is a good one
	for _, p := range all {
		stat, _ := os.ReadFile(p + "/stat")
		if _, state, ok := strings.Cut(string(stat), ") "); !ok || state[0] == 'Z' {
			continue
		}
		environment, _ := os.ReadFile(p + "/environ")
		directory, _ := os.Readlink(p + "/cwd")
		log, _ := os.Readlink(p + "/fd/1") // of a supervisor, which has nothing else there
		if strings.Contains(string(environment), h.dir) || strings.HasPrefix(directory, h.dir) || strings.HasPrefix(log, h.dir) {
			command, _ := os.ReadFile(p + "/cmdline")
			found = append(found, filepath.Base(p)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func (h place) records(t *testing.T) []store.Record {
	t.Helper()
	st, err := store.OpenReadOnlyContext(t.Context(), h.store)
	if store.ProblemOf(err) == store.Missing {
		return nil
	}
	if err != nil {
		return nil // in the making
	}
	defer st.Close()
	records, err := st.Records(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// untilStored waits until a repetition is stored, which takes a JVM on a busy machine a minute.
func (h place) untilStored(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); len(h.records(t)) == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing was stored for three minutes")
		}
	}
}

// untilNext waits until a repetition has begun after the call.
func (h place) untilNext(t *testing.T) {
	t.Helper()
	before := h.processes()
	until(t, "the next repetition has a broker", func() bool {
		return slices.ContainsFunc(h.processes(), func(p string) bool { return strings.Contains(p, "__supervise") && !slices.Contains(before, p) })
	})
}

// requireDump removes the one file that a crash leaves on purpose.
func (h place) requireDump(t *testing.T) {
	t.Helper()
	dumps, err := filepath.Glob(filepath.Join(h.temp(), "brokermark-crash-*.txt"))
	if err != nil || len(dumps) != 1 {
		t.Fatalf("%d dumps, %v; want one", len(dumps), err)
	}
	if err := os.Remove(dumps[0]); err != nil {
		t.Fatal(err)
	}
}

func (h place) requireEmpty(t *testing.T) {
	t.Helper()
	var left []string
	empty := func() bool {
		if left = h.processes(); len(left) == 0 {
			if _, err := provision.NewHost(h.dir, nil); err != nil { // as the next command does
				t.Fatal(err)
			}
		}
		for _, dir := range []string{h.runs(), h.temp()} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				left = append(left, filepath.Join(dir, e.Name()))
			}
		}
		return len(left) == 0
	}
	for end := time.Now().Add(90 * time.Second); !empty(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left behind after 90 s:\n%s", strings.Join(left, "\n"))
		}
	}
}
