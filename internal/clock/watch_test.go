package clock

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// watching, set for a process of this test binary, makes it watch itself and say what it saw.
const watching = "CLOCK_TEST_WATCHING"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(inNamespace) != "":
		answerAsPeer()
		return
	case os.Getenv(watching) == "":
		os.Exit(m.Run())
	}
	var longest int64
	w := NewWatch(func(due, at int64) { longest = max(longest, at-due) })
	patience := NewTimer(w)
	began := Now()
	os.Stdout.WriteString("watching\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // blocks until the test has stopped and continued this process
	now := Now()
	stood, awake := w.Stood(now), patience.Awake()
	w.Close()
	os.Stdout.WriteString(strings.Join([]string{
		strconv.FormatInt(longest, 10), strconv.FormatInt(stood, 10), strconv.FormatInt(int64(awake), 10), strconv.FormatInt(now-began, 10),
	}, " ") + "\n")
}

func TestAProcessThatIsStoppedKnowsForHowLong(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), watching+"=1")
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	buf := make([]byte, 200)
	if n, err := out.Read(buf); err != nil || string(buf[:n]) != "watching\n" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	signal(t, c, syscall.SIGSTOP)
	time.Sleep(400 * time.Millisecond)
	signal(t, c, syscall.SIGCONT)
	held := time.Since(began)
	// At once: the process has to know it before its Watch has woken.
	if _, err := in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	var v [4]int64
	for i, f := range strings.Fields(string(buf[:n])) {
		v[i], _ = strconv.ParseInt(f, 10, 64)
	}
	longest, stood, awake, all := time.Duration(v[0]), time.Duration(v[1]), time.Duration(v[2]), time.Duration(v[3])
	const least = 400*time.Millisecond - WatchEvery // it may have been asleep by right when it was stopped
	if longest < least-20*time.Millisecond || longest > held+100*time.Millisecond {
		t.Errorf("the longest pause was %v; the process stood still for %v", longest, held)
	}
	if stood < least-20*time.Millisecond {
		t.Errorf("it stood still for %v and says %v", held, stood)
	}
	if sum := awake + stood; awake < 0 || sum > all+time.Millisecond || sum < all-20*time.Millisecond-WatchEvery {
		t.Errorf("awake for %v and not for %v, %v in all", awake, stood, all)
	}
}

func signal(t *testing.T, c *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func TestAWatchSeesWhatKeepsGoroutinesFromRunning(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var mu sync.Mutex
	var longest int64
	w := NewWatch(func(due, at int64) {
		mu.Lock()
		longest = max(longest, at-due)
		mu.Unlock()
	})
	// Goroutines that never wait share the one P in slices of 10 ms.
	until := Now() + int64(300*time.Millisecond)
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for Now() < until {
			}
		})
	}
	busy.Wait()
	w.Close()
	if longest < int64(5*time.Millisecond) {
		t.Errorf("four goroutines wanted one P all the time, and the longest pause was %v", time.Duration(longest))
	}
}

// A process that stands still for the last 4 ms of every 20 ms, as one with a quota of processor time does, holds up a fifth
// of what comes at random moments, by 2 ms on average.
func TestPausesThatComeAtRegularIntervalsAreSeen(t *testing.T) {
	const ms, wakeUps = int64(time.Millisecond), 100_000
	w := &Watch{}
	var late, sum int64
	for range wakeUps {
		due := w.due
		at := due
		if within := due % (20 * ms); within >= 16*ms {
			at += 20*ms - within
			late, sum = late+1, sum+at-due
		}
		w.noteWakeUp(due, at)
	}
	share, mean := float64(late)/wakeUps, float64(sum)/float64(max(1, late))
	if share < 0.15 || share > 0.25 || mean < 1.5e6 || mean > 2.5e6 {
		t.Errorf("%.1f %% of the wake-ups were late, by %.2f ms on average", 100*share, mean/1e6)
	}
}

func TestWithoutAWatchNothingStandsStill(t *testing.T) {
	var w *Watch
	if w.Stood(Now()) != 0 {
		t.Error("a nil Watch counts")
	}
	timer := NewTimer(nil)
	time.Sleep(2 * time.Millisecond)
	if timer.Awake() < 2*time.Millisecond {
		t.Errorf("awake for %v of at least 2 ms", timer.Awake())
	}
	timer.Reset()
	if timer.Awake() > time.Second {
		t.Error("a timer that was reset goes on")
	}
}
