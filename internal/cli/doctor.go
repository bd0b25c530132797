package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/docker/go-units"
	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/fleet"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/unit"
)

func (s *shell) doctorCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine: what is missing, and what will raise doubts",
		Example: "  brokermark doctor\n" +
			"  brokermark doctor --format markdown\n" +
			"  brokermark doctor --format jsonl",
		Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := checkFormat(format, documentFormats...); err != nil {
				return err
			}
			d := document.Document{Title: "This machine"}
			findings := lookAround()
			d.Add(machineTable(findings))
			h, err := provision.NewHost(provision.DefaultDir(), nil)
			if err != nil {
				d.Say("Brokers can't be started here: " + err.Error() + ".")
				return s.write(d, format)
			}
			table, absent := brokerTable(h)
			d.Add(document.Heading{Level: 1, Text: "Brokers"}, table)
			if absent != "" {
				d.Say("What is not installed yet is installed with: brokermark broker install " + absent)
			}
			d.Add(document.Heading{Level: 1, Text: "What will be doubted"})
			doubted := slices.DeleteFunc(findings, func(f finding) bool { return f.doubt == "" })
			for _, f := range doubted {
				d.Say(f.doubt)
			}
			if len(doubted) == 0 {
				d.Say("Nothing about this machine.")
			}
			return s.write(d, format)
		},
	}
	formatFlag(c.Flags(), &format, documentFormats...)
	return c
}

// finding is a fact about the machine, such as "cores: 2", with a sentence about what will be doubted because of it, or "".
type finding struct{ what, seen, doubt string }

// notKnown returns the finding about something that the system doesn't tell.
func notKnown(what string) finding { return finding{what: what, seen: "not known here"} }

// Less than this is doubted.
const (
	leastCores  = 4 // with fewer, broker and generator get in each other's way
	leastFiles  = 4096
	leastMemory = 4 << 30
	leastDisk   = 10 << 30
)

// kernels are named as their makers do.
var kernels = map[string]string{"linux": "Linux", "darwin": "Darwin"}

func lookAround() []finding {
	h := lab.HostFacts()
	list := []finding{
		{what: "system", seen: strings.TrimSpace(h.OS + ", " + kernels[runtime.GOOS] + " " + h.Kernel)},
		{what: "processor", seen: h.CPU},
		cores(h.Cores), memory(h.MemoryBytes), clockSource(h.Clock), governor(), load(), openFiles(), disk(provision.DefaultDir()), userNamespaces("/proc/sys"), privileges(),
	}
	if !provision.Metered {
		list = append(list, finding{
			what: "other processes", seen: "not known here",
			doubt: "This system doesn't say what other processes use: what a broker costs isn't known, and that something else keeps the machine busy isn't noticed (unmetered).",
		})
	}
	return list
}

func cores(n int) finding {
	f := finding{what: "cores", seen: fmt.Sprint(n)}
	if n < leastCores {
		f.doubt = fmt.Sprintf("Broker and generator share %s: when both together use them up, the record says so (shared-cores).", unit.Counted(n, "core"))
	}
	return f
}

func memory(bytes int64) finding {
	f := finding{what: "memory", seen: units.BytesSize(float64(bytes))}
	if bytes > 0 && bytes < leastMemory {
		f.doubt = fmt.Sprintf("%s of memory is little for a Java broker with its page cache.", f.seen)
	}
	return f
}

func clockSource(name string) finding {
	f := finding{what: "clock source", seen: name}
	switch name {
	case "", "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page":
	default:
		f.doubt = fmt.Sprintf("The kernel reads its clock from %s, which takes a system call and up to a microsecond: the generator's own cost is higher.", name)
	}
	return f
}

func governor() finding {
	b, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	if err != nil {
		return notKnown("frequency governor")
	}
	f := finding{what: "frequency governor", seen: strings.TrimSpace(string(b))}
	if f.seen != "performance" {
		f.doubt = fmt.Sprintf("The frequency governor is %q: cores slow down when idle, which lengthens latencies at low rates.", f.seen)
	}
	return f
}

func load() finding {
	average := fleet.LoadAverage()
	if average < 0 {
		return notKnown("load")
	}
	f := finding{what: "load", seen: fmt.Sprintf("%.2f over the last minute", average)}
	if average > 0.3*float64(runtime.NumCPU()) {
		f.doubt = fmt.Sprintf("Something else is busy here: the load was %.2f over the last minute.", average)
	}
	return f
}

func openFiles() finding {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return notKnown("open files")
	}
	f := finding{what: "open files", seen: fmt.Sprintf("at most %d", l.Max)}
	if l.Max < leastFiles {
		f.doubt = fmt.Sprintf("At most %d files may be open: many topics or connections will fail. Raise it with: ulimit -n %d", l.Max, leastFiles)
	}
	return f
}

// disk returns the free space of the file system that dir is or will be on.
func disk(dir string) finding {
	f := finding{what: "work directory", seen: dir}
	var fs syscall.Statfs_t
	for d := dir; syscall.Statfs(d, &fs) != nil; d = filepath.Dir(d) {
		if d == filepath.Dir(d) {
			return f
		}
	}
	free := int64(fs.Bavail) * int64(fs.Bsize)
	f.seen += ", " + units.BytesSize(float64(free)) + " free"
	if free < leastDisk {
		f.doubt = fmt.Sprintf("Only %s of disk are free: a backlog or a long run may fill it.", units.BytesSize(float64(free)))
	}
	const tmpfs = 0x01021994
	if int64(fs.Type) == tmpfs {
		f.doubt = dir + " is in memory: figures of brokers that write to disk say nothing about one."
	}
	return f
}

// userNamespaces returns whether ordinary users may make them: RabbitMQ's server runs in one. sys is /proc/sys.
func userNamespaces(sys string) finding {
	f := finding{what: "user namespaces", seen: "available"}
	for _, s := range []struct{ name, forbids string }{
		{"user/max_user_namespaces", "0"}, {"kernel/unprivileged_userns_clone", "0"}, {"kernel/apparmor_restrict_unprivileged_userns", "1"},
	} {
		value, err := os.ReadFile(filepath.Join(sys, s.name))
		if err == nil && strings.TrimSpace(string(value)) == s.forbids {
			setting := strings.ReplaceAll(s.name, "/", ".")
			f.seen = fmt.Sprintf("forbidden (%s = %s)", setting, s.forbids)
			f.doubt = fmt.Sprintf("Ordinary users can't make user namespaces here (%s = %s): RabbitMQ, whose server runs in one, won't start.", setting, s.forbids)
		}
	}
	if _, err := os.Stat(filepath.Join(sys, "user/max_user_namespaces")); err != nil {
		f.seen = "not known here"
	}
	return f
}

func privileges() finding {
	if os.Geteuid() == 0 {
		return finding{what: "user", seen: "root: missing system packages are installed; brokers run as a user of their own"}
	}
	return finding{what: "user", seen: "not root: missing system packages are named, not installed"}
}

func machineTable(list []finding) document.Table {
	t := document.Table{Columns: []document.Column{{Key: "what", Name: "what", Identifies: true}, {Key: "seen", Name: "seen", Wide: true}}}
	for _, f := range list {
		t.AddWords(f.what, f.seen)
	}
	return t
}

// brokerTable says what each version of each broker lacks. absent is one that only needs to be installed, or "".
func brokerTable(h *provision.Host) (t document.Table, absent string) {
	t.Columns = []document.Column{
		{Key: "broker", Name: "broker", Identifies: true},
		{Key: "state", Name: "state"},
		{Key: "remarks", Name: "what to do, and doubts", Wide: true},
	}
	for _, name := range driver.Names() {
		r, ok := catalog.Started(name)
		if !ok {
			t.AddWords(name, "ready", "runs in this process; for proving the instrument")
			continue
		}
		for _, v := range r.Versions {
			state, remarks := "ready", h.Installed(name, v.Name)
			if len(remarks) > 0 {
				state = "missing"
			}
			for i, remark := range remarks { // how to install is said once, below
				if short, command, found := strings.Cut(remark, "; install it with: brokermark broker install "); found {
					remarks[i], absent = strings.TrimPrefix(short, name+" "+v.Name+" is "), cmp.Or(absent, command)
				}
			}
			if v.Doubt != "" {
				remarks = append(remarks, "doubted: "+v.Doubt)
			}
			t.AddWords(name+"@"+v.Name, state, strings.Join(remarks, "; "))
		}
	}
	return t, absent
}
