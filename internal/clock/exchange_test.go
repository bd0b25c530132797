package clock

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/brokermark/brokermark/internal/testkit"
)

const token = "a token of the test's own"

func answering(t *testing.T, now func() int64) string {
	t.Helper()
	a, err := newAnswerer("127.0.0.1:0", token, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a.Address()
}

// slowed passes datagrams on to an address and back, each after a delay of its way.
func slowed(t *testing.T, to string, out, back func() time.Duration) string {
	t.Helper()
	front, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	behind, err := net.Dial("udp", to)
	if err != nil {
		t.Fatal(err)
	}
	var passing sync.WaitGroup
	t.Cleanup(func() { front.Close(); behind.Close(); passing.Wait() })
	asked := make(chan net.Addr, 1000)
	passing.Go(func() {
		for in := make([]byte, 2*datagramSize); ; {
			n, from, err := front.ReadFrom(in)
			if err != nil {
				return
			}
			asked <- from
			time.Sleep(out())
			_, _ = behind.Write(in[:n])
		}
	})
	passing.Go(func() {
		for in := make([]byte, 2*datagramSize); ; {
			n, err := behind.Read(in)
			if err != nil {
				return
			}
			time.Sleep(back())
			_, _ = front.WriteTo(in[:n], <-asked)
		}
	})
	return front.LocalAddr().String()
}

func TestKnownOffsetsDriftsAndDelaysLieWithinTheReportedBounds(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	const peers, rounds, each = 5, 5, 20 // 1,000 exchanges: 5 × 2 × 5 measurements of 20
	judged, missed, widest := 0, 0, int64(0)
	random := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for peer := range peers {
		ahead, drift := random.Int64N(1e17), []float64{0, 100e-6, -300e-6, 500e-6, -20e-6}[peer]
		origin := Now()
		truth := func(ns int64) int64 { return ns + ahead + int64(math.Round(drift*float64(ns-origin))) }
		// Up to 1 ms one way and next to nothing the other, or the other way round.
		way := func(most time.Duration) func() time.Duration {
			return func() time.Duration { return rand.N(most) }
		}
		slow, quick := time.Millisecond, 50*time.Microsecond
		if peer%2 == 1 {
			slow, quick = quick, slow
		}
		address := slowed(t, answering(t, func() int64 { return truth(Now()) }), way(slow), way(quick))
		for range rounds {
			var measured [2]Offset
			for k := range measured {
				pings, err := Exchange(t.Context(), address, token, each)
				if err != nil || len(pings) != each {
					t.Fatalf("%d exchanges, %v", len(pings), err)
				}
				if measured[k], err = EstimateOffset(pings); err != nil {
					t.Fatal(err)
				}
				if most := allowed(pings); measured[k].Bound > most {
					t.Errorf("the bound is %d ns; the quickest exchange allows %d", measured[k].Bound, most)
				}
			}
			l, err := Fit(measured[0], measured[1])
			if err != nil {
				t.Fatal(err)
			}
			widest = max(widest, l.Bound)
			for i := range int64(2 * each) {
				ns := l.From + (l.Until-l.From)*i/(2*each-1)
				judged++
				if off := l.PeerTime(ns) - truth(ns); off > l.Bound || -off > l.Bound {
					missed++
					t.Logf("off by %d, the bound is %d", off, l.Bound)
				}
			}
		}
	}
	t.Logf("%d of %d outside their bounds of at most %d ns", missed, judged, widest)
	if judged != 1000 || missed > judged/100 {
		t.Errorf("%d of %d lie outside their bounds", missed, judged)
	}
}

func TestAnAnswererAnswersNoClientWithoutItsToken(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	address := answering(t, Now)
	conn, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sealed := func(token string, kind byte) []byte {
		var d [datagramSize]byte
		newSealer(token).seal(&d, kind)
		return d[:]
	}
	good := sealed(token, kindQuestion)
	newer := append([]byte{}, good...)
	newer[4]++
	for name, d := range map[string][]byte{
		"another token": sealed("another token", kindQuestion), "an answer": sealed(token, kindAnswer), "cut": good[:datagramSize-1],
		"longer": append(append([]byte{}, good...), 0), "empty": {}, "another version": newer, "noise": make([]byte, datagramSize),
	} {
		if _, err := conn.Write(d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if _, err := conn.Write(good); err != nil { // the one that is answered: nothing before it was
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	in := make([]byte, 2*datagramSize)
	if n, err := conn.Read(in); err != nil || n != datagramSize || in[5] != kindAnswer {
		t.Fatalf("%d bytes, %v", n, err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := conn.Read(in); err == nil {
		t.Errorf("a second answer, of %d bytes", n)
	}
	if _, err := Exchange(t.Context(), address, "another token", 100); err == nil || !strings.Contains(err.Error(), "no answer to 4 questions") {
		t.Errorf("with another token: %v", err)
	}
}

// A forged answer, or one to an earlier question, is not accepted.
func TestOnlyTheAnswerToTheQuestionCounts(t *testing.T) {
	defer goleak.VerifyNone(t)
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var lying sync.WaitGroup
	defer lying.Wait()
	defer conn.Close()
	lying.Go(func() {
		var earlier, d [datagramSize]byte
		for in := make([]byte, 2*datagramSize); ; {
			n, from, err := conn.ReadFrom(in)
			if err != nil {
				return
			}
			copy(d[:], in[:n])
			d[arrivedAt+6] = 1 // far ahead
			forged := d
			newSealer("another token").seal(&forged, kindAnswer)
			for _, answer := range [][]byte{earlier[:], forged[:], forged[:10], in[:n]} {
				_, _ = conn.WriteTo(answer, from)
			}
			copy(d[arrivedAt:macAt], make([]byte, macAt-arrivedAt))
			newSealer(token).seal(&d, kindAnswer)
			_, _ = conn.WriteTo(d[:], from)
			earlier = d
			earlier[answeredAt] = 1
			newSealer(token).seal(&earlier, kindAnswer)
		}
	})
	pings, err := Exchange(t.Context(), conn.LocalAddr().String(), token, 3)
	if err != nil || len(pings) != 3 {
		t.Fatalf("%d exchanges, %v", len(pings), err)
	}
	for _, p := range pings {
		if p.Arrived != 0 || p.Answered != 0 {
			t.Errorf("%+v", p)
		}
	}
}

func TestExchangesThatCannotBeAreRefused(t *testing.T) {
	for want, do := range map[string]func() error{
		"1 to 10000":    func() error { _, err := Exchange(t.Context(), "127.0.0.1:1", token, 0); return err },
		"10001":         func() error { _, err := Exchange(t.Context(), "127.0.0.1:1", token, 10_001); return err },
		"no answer":     func() error { _, err := Compare(t.Context(), "127.0.0.1:1", token); return err },
		"missing port":  func() error { _, err := Exchange(t.Context(), "127.0.0.1", token, 1); return err },
		"no token":      func() error { _, err := NewAnswerer("127.0.0.1:0", ""); return err },
		"all addresses": func() error { _, err := NewAnswerer(":0", token); return err },
		"0.0.0.0":       func() error { _, err := NewAnswerer("0.0.0.0:0", token); return err },
		"clock":         func() error { _, err := NewAnswerer("127.0.0.1:no-port", token); return err },
		"canceled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := Exchange(ctx, answering(t, Now), token, 1)
			return err
		},
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}

// inNamespace makes this test binary a peer that runs elsewhere: it answers until its standard input ends.
const inNamespace = "BROKERMARK_CLOCK_PEER"

// answerAsPeer is the whole work of such a process.
func answerAsPeer() {
	a, err := NewAnswerer("127.0.0.1:0", token)
	if err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(a.Address() + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = a.Close()
}

func TestAClockThatATimeNamespaceShiftsIsFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		testkit.Lacks(t, "time namespaces are Linux's")
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		testkit.Lacks(t, "util-linux's unshare is not installed")
	}
	try := exec.Command(unshare, "--time", "--monotonic", "1", "--fork", "true")
	if text, err := try.CombinedOutput(); err != nil {
		testkit.Lacks(t, "the kernel makes no time namespace for us: %v: %s", err, text)
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, shift := range []int64{1, 86_400, 100_000_000} {
		peer := exec.Command(unshare, "--time", "--monotonic", strconv.FormatInt(shift, 10), "--fork", "--kill-child", self)
		peer.Env = append(os.Environ(), inNamespace+"=1")
		hold, err := peer.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		says, err := peer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := peer.Start(); err != nil {
			t.Fatal(err)
		}
		in := make([]byte, 100)
		n, err := says.Read(in)
		if err == nil {
			var o Offset
			if o, err = Compare(t.Context(), strings.TrimSpace(string(in[:n])), token); err == nil {
				// Each process finds the axis by a calibration of its own, which is worse on a busy machine.
				const calibrations = 2 * int64(20*time.Microsecond)
				t.Logf("shifted by %d s: found %d ns, %d off, bound %d", shift, o.Ns, o.Ns-shift*1e9, o.Bound)
				if off := o.Ns - shift*1e9; off > o.Bound+calibrations || -off > o.Bound+calibrations {
					t.Errorf("a clock %d s ahead was taken for %d ± %d ns", shift, o.Ns, o.Bound)
				}
			}
		}
		if err != nil {
			t.Error(err)
		}
		hold.Close()
		if err := peer.Wait(); err != nil {
			t.Error(err)
		}
	}
}
