package cli_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// A randomEnding is something that happens to a run of the program at a random moment; the run ends by it, or by a Ctrl-C after it.
type randomEnding struct {
	name string
	// on changes how the program is started: on a disk or in a network of its own. Nil where nothing is needed.
	on func(t *testing.T, h place, c *exec.Cmd)
	// strike does it, and returns what takes it back once the program has ended, if anything does.
	strike func(t *testing.T, h place, c *exec.Cmd) (restore func())
}

var randomEndings = []randomEnding{
	{name: "INT", strike: bySignal(os.Interrupt)},
	{name: "TERM", strike: bySignal(syscall.SIGTERM)},
	{name: "HUP", strike: bySignal(syscall.SIGHUP)},
	{name: "INT twice", strike: bySignal(os.Interrupt, os.Interrupt)},
	{name: "KILL", strike: bySignal(syscall.SIGKILL)},
	{name: "QUIT", strike: bySignal(syscall.SIGQUIT)},
	{name: "out of memory", strike: outOfMemory},
	{name: "full disk", on: onSmallDisk, strike: fillDisk},
	{name: "store away", strike: lockStore},
	{name: "broker killed", strike: killBroker},
	{name: "network cut", on: inOwnNetwork, strike: cutNetwork},
}

// brokersToEnd stand in the list as often as their share of the endings is: what starts quickly more often.
var brokersToEnd = slices.Concat(
	slices.Repeat([]string{"nats"}, 30), slices.Repeat([]string{"jetstream"}, 25), slices.Repeat([]string{"redis"}, 20),
	slices.Repeat([]string{"mosquitto"}, 13), slices.Repeat([]string{"rabbitmq"}, 5), slices.Repeat([]string{"kafka"}, 3),
	slices.Repeat([]string{withPostgres}, 4))

// withPostgres is a pipeline on JetStream whose consumer keeps its state in PostgreSQL.
const withPostgres = "jetstream and postgres"

// tally counts what became of the endings, by ending and by broker.
type tally struct {
	sync.Mutex
	endings, brokers map[string]int
	late             int
	longest          time.Duration
}

// So many runs end in one of eleven ways at a random moment, over six brokers and a pipeline with PostgreSQL: no process, no directory, no temporary file is left, and
// no finished record is lost. The clock isn't stepped: it is that of the whole machine. BROKERMARK_ENDINGS says how many.
func TestNothingIsLeftOrLostInAThousandRandomEndings(t *testing.T) {
	testkit.Long(t)
	n, err := strconv.Atoi(cmp.Or(os.Getenv("BROKERMARK_ENDINGS"), "1000"))
	if err != nil {
		t.Fatal(err)
	}
	home := os.Getenv("BROKERMARK_HOME")
	os.Unsetenv("BROKERMARK_HOME") // installations are there, not in the home of these tests
	t.Cleanup(func() { os.Setenv("BROKERMARK_HOME", home) })
	for _, broker := range slices.Compact(slices.Clone(brokersToEnd)) {
		if broker == withPostgres {
			broker = parts.Postgres
		}
		install(t, broker)
	}
	seed := testkit.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	done := tally{endings: map[string]int{}, brokers: map[string]int{}}
	t.Run("endings", func(t *testing.T) {
		for i := range n {
			e := randomEndings[i%len(randomEndings)]
			broker := brokersToEnd[random.IntN(len(brokersToEnd))]
			moment := time.Duration(random.Int64N(int64(3 * time.Second)))
			t.Run(fmt.Sprintf("%s, %s", broker, e.name), func(t *testing.T) {
				t.Parallel()
				done.end(t, e, broker, moment)
			})
		}
	})
	t.Logf("seed %d; %d endings of %d without a fault: %s; over %s; the longest took %s, %d more than 10 s",
		seed, sum(done.endings), n, counts(done.endings), counts(done.brokers), done.longest.Round(time.Millisecond), done.late)
}

// end lets one run end.
func (d *tally) end(t *testing.T, e randomEnding, broker string, moment time.Duration) {
	h := newPlace(t)
	c := h.command([]string{broker})
	if e.on != nil {
		e.on(t, h, c)
	}
	h.start(t, c)
	time.Sleep(moment)
	finished := h.finished(t)
	struck := time.Now()
	restore := e.strike(t, h, c)
	// The program ends by itself, or is asked to.
	asked := time.AfterFunc(time.Second, func() { _ = c.Process.Signal(os.Interrupt) })
	exitCode(t, c)
	asked.Stop()
	took := time.Since(struck)
	if restore != nil {
		restore()
	}
	h.removeDumps(t)
	h.requireEmpty(t)
	after := h.finished(t)
	for id := range finished {
		if !after[id] {
			t.Errorf("record %s was finished and can't be read any more", id)
		}
	}
	if t.Failed() {
		return
	}
	d.Lock()
	defer d.Unlock()
	d.endings[e.name]++
	d.brokers[broker]++
	d.longest = max(d.longest, took)
	if took > 10*time.Second {
		d.late++
	}
}

// finished are the records in the store, by repetition.
func (h place) finished(t *testing.T) map[string]bool {
	all := map[string]bool{}
	for _, r := range h.records(t) {
		if r.Status == store.OK {
			all[fmt.Sprintf("%s/%d", r.PointID, r.Repetition)] = true
		}
	}
	return all
}

// removeDumps takes away what crashes leave on purpose.
func (h place) removeDumps(t *testing.T) {
	t.Helper()
	dumps, err := filepath.Glob(filepath.Join(h.temp(), "brokermark-crash-*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dumps {
		if err := os.Remove(d); err != nil {
			t.Fatal(err)
		}
	}
}

// bySignal sends signals at most a quarter of a second apart.
func bySignal(signals ...os.Signal) func(*testing.T, place, *exec.Cmd) func() {
	return func(_ *testing.T, _ place, c *exec.Cmd) func() {
		for i, s := range signals {
			if i > 0 {
				time.Sleep(rand.N(250 * time.Millisecond))
			}
			_ = c.Process.Signal(s)
		}
		return nil
	}
}

// outOfMemory puts the process that works into a group that may have no more memory: the kernel kills it as soon as it wants some.
// Where no group can be made it is killed as the kernel would.
func outOfMemory(t *testing.T, h place, c *exec.Cmd) func() {
	worker := 0
	for _, p := range h.processes() {
		pid, command, _ := strings.Cut(p, " ")
		if strings.HasPrefix(command, "brokermark __watched") || strings.Contains(command, " __watched ") {
			worker, _ = strconv.Atoi(pid)
		}
	}
	if worker == 0 {
		return nil // it has not begun yet
	}
	group := filepath.Join("/sys/fs/cgroup/memory", filepath.Base(h.dir))
	err := os.Mkdir(group, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(group, "memory.limit_in_bytes"), []byte("1048576"), 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(worker)), 0o644)
	}
	if err != nil {
		_ = syscall.Kill(worker, syscall.SIGKILL)
	}
	return func() { _ = os.Remove(group) }
}

// onSmallDisk gives the place a disk of its own, as large as brokers ask for.
func onSmallDisk(t *testing.T, h place, c *exec.Cmd) {
	if err := syscall.Mount("tmpfs", h.dir, "tmpfs", 0, "size=2g,mode=755"); err != nil {
		testkit.Lacks(t, "no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(h.dir, syscall.MNT_DETACH) })
	h.furnish(t)
}

// fillDisk makes the disk as small as what is on it.
func fillDisk(t *testing.T, h place, _ *exec.Cmd) func() {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(h.dir, &fs); err != nil {
		t.Fatal(err)
	}
	used := (fs.Blocks - fs.Bfree + 1) * uint64(fs.Bsize)
	// What is written meanwhile makes it too small, then a little more is tried.
	for ; syscall.Mount("", h.dir, "", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", used)) != nil && used < 2<<30; used += 1 << 20 {
	}
	return func() { _ = syscall.Mount("", h.dir, "", syscall.MS_REMOUNT, "size=2g") }
}

// lockStore takes the store's only lock for writing, as another program may.
func lockStore(t *testing.T, h place, _ *exec.Cmd) func() {
	if _, err := os.Stat(h.store); err != nil {
		return nil // it isn't made yet
	}
	db, err := sql.Open("sqlite", h.store)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	_, _ = db.Exec("PRAGMA busy_timeout = 1000")
	_, _ = db.Exec("BEGIN IMMEDIATE")
	return func() {
		_, _ = db.Exec("ROLLBACK")
		_ = db.Close()
	}
}

// killBroker kills a process of the broker: one that works in its directory.
func killBroker(t *testing.T, h place, _ *exec.Cmd) func() {
	works, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range works {
		if dir, _ := os.Readlink(w); strings.HasPrefix(dir, h.runs()+"/") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(w)))
			_ = syscall.Kill(pid, syscall.SIGKILL)
			break
		}
	}
	return nil
}

// inOwnNetwork starts the program where it has a loopback of its own.
func inOwnNetwork(t *testing.T, _ place, c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET}
	c.Args = append([]string{"sh", "-c", `ip link set lo up && exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		testkit.Lacks(t, "%v", err)
	}
	if _, err := exec.LookPath("ip"); err != nil || os.Geteuid() != 0 {
		testkit.Lacks(t, "no network can be made here: %v", err)
	}
	c.Path = sh
}

func cutNetwork(t *testing.T, _ place, c *exec.Cmd) func() {
	out, err := exec.Command("nsenter", "-t", strconv.Itoa(c.Process.Pid), "-n", "ip", "link", "set", "lo", "down").CombinedOutput()
	if err != nil {
		t.Errorf("cut the network: %v %s", err, out)
	}
	return nil
}

func sum(m map[string]int) (all int) {
	for _, n := range m {
		all += n
	}
	return all
}

func counts(m map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s %d", name, m[name]))
	}
	return strings.Join(list, ", ")
}
