package provision

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Missing is an address whose processes can't be metered.
type Missing struct {
	Address string
	Here    bool // it is an address of this machine: the broker may be a process there that can't be identified
	Why     string
}

// Find looks on this machine for the processes that listen on addresses (host:port). It returns a nil meter if there are none.
func Find(ctx context.Context, addresses []string) (*Foreign, []Missing) {
	f := newForeign(procfs.DefaultMountPoint, os.Getpid())
	var missing []Missing
	for _, a := range addresses {
		ips, port, err := f.here(ctx, a)
		switch {
		case err != nil:
			missing = append(missing, Missing{Address: a, Why: err.Error()})
		case len(ips) == 0:
			missing = append(missing, Missing{Address: a, Why: "it is not on this machine"})
		case !Metered:
			missing = append(missing, Missing{Address: a, Here: true, Why: runtime.GOOS + " doesn't say who listens on it"})
		default:
			if why := f.listensOn(endpoint{ips, port}); why != "" {
				missing = append(missing, Missing{Address: a, Here: true, Why: why})
			}
		}
	}
	if len(f.roots) == 0 {
		return nil, missing
	}
	f.look()
	return f, missing
}

// endpoint is a port at addresses of this machine; none: at any.
type endpoint struct {
	ips  []net.IP
	port uint64
}

// here returns which IP addresses of address belong to this machine.
func (f *Foreign) here(ctx context.Context, address string) ([]net.IP, uint64, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, 0, err
	}
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, 0, fmt.Errorf("port %q is not a number", number)
	}
	all, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, 0, err
	}
	own, _ := net.InterfaceAddrs()
	var ips []net.IP
	for _, a := range all {
		if a.IP.IsLoopback() || slices.ContainsFunc(own, func(o net.Addr) bool {
			n, ok := o.(*net.IPNet)
			return ok && n.IP.Equal(a.IP)
		}) {
			ips = append(ips, a.IP)
		}
	}
	return ips, port, nil
}

// listeners returns the processes that hold a socket listening at e, or why none is visible.
func listeners(mount string, e endpoint) (pids []int, why string) {
	fs, err := procfs.NewFS(mount)
	if err != nil {
		return nil, err.Error()
	}
	inodes, owner := map[string]bool{}, ""
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile(filepath.Join(mount, "net", table)) // there may be no IPv6
		for line := range strings.Lines(string(text)) {
			if uid, inode, ok := e.listens(strings.Fields(line)); ok {
				inodes["socket:["+inode+"]"], owner = true, uid
			}
		}
	}
	if len(inodes) == 0 {
		return nil, "no socket of this network namespace listens on it"
	}
	all, err := fs.AllProcs()
	if err != nil {
		return nil, err.Error()
	}
	for _, p := range all {
		open, err := p.FileDescriptorTargets()
		if err == nil && slices.ContainsFunc(open, func(target string) bool { return inodes[target] }) {
			pids = append(pids, p.PID)
		}
	}
	if len(pids) == 0 {
		if u, err := user.LookupId(owner); err == nil {
			owner = u.Username
		}
		return nil, fmt.Sprintf("its socket belongs to the user %s, whose processes can't be looked into", owner)
	}
	slices.Sort(pids)
	return pids, ""
}

// listens reads a line of the kernel's table of TCP sockets: number, local address, remote address, state, queues,
// timer, retransmits, user, timeout, inode.
func (e endpoint) listens(line []string) (uid, inode string, ok bool) {
	const listening = "0A"
	if len(line) < 10 || line[3] != listening {
		return "", "", false
	}
	address, number, _ := strings.Cut(line[1], ":")
	port, err := strconv.ParseUint(number, 16, 16)
	if ip := kernelIP(address); err == nil && port == e.port && ip != nil {
		ok = ip.IsUnspecified() || len(e.ips) == 0 || slices.ContainsFunc(e.ips, ip.Equal)
	}
	return line[7], line[9], ok
}

// kernelIP reads an address in the kernel's format: words of 32 bits in the byte order of this machine.
func kernelIP(text string) net.IP {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != net.IPv4len && len(b) != net.IPv6len {
		return nil
	}
	for word := range slices.Chunk(b, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	return b
}

// forwarders listen on behalf of others. The names are the kernel's, which keeps 15 bytes.
var forwarders = []string{
	"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "gvproxy", "kubectl", "ssh", "sshd", "socat",
	"haproxy", "nginx", "envoy", "traefik", "caddy", "toxiproxy", "toxiproxy-serve", "stunnel", "stunnel4", "sslh", "rinetd", "redir", "simpleproxy",
	"ncat", "nc", "cloudflared", "tailscaled", "kafka-proxy", "nutcracker", "twemproxy", "gost", "frpc", "frps",
}

// behind returns the processes that listen at e, or why they may not be the broker.
func (f *Foreign) behind(e endpoint) (pids []int, why string) {
	pids, why = listeners(f.mount, e)
	if why = f.passable(pids, why); why != "" {
		return nil, why
	}
	return pids, ""
}

// listensOn adds the processes that listen at e to the metered ones, or returns why it can't.
func (f *Foreign) listensOn(e endpoint) (why string) {
	pids, why := f.behind(e)
	if why == "" {
		f.endpoints = append(f.endpoints, e)
		f.roots = append(f.roots, f.identities(pids)...)
	}
	return why
}

// passable returns why the processes behind an address may not be the broker; empty if they can be.
func (f *Foreign) passable(pids []int, why string) string {
	for _, pid := range pids {
		if pid == f.self {
			return "this process itself listens on it"
		}
		if s, err := f.stat(pid); err == nil && slices.Contains(forwarders, s.Comm) {
			return fmt.Sprintf("%s listens on it, which passes everything on", s.Comm)
		}
	}
	return why
}

// service returns the control group of a process if it holds exactly one service or container; otherwise "", for example for a
// login session or a terminal.
func (f *Foreign) service(pid int) string {
	p, err := f.process(pid)
	if err != nil {
		return ""
	}
	groups, err := p.Cgroups()
	if err != nil {
		return ""
	}
	for _, g := range groups {
		unified := g.HierarchyID == 0 && g.Path != "/"
		if !unified && !slices.Contains(g.Controllers, "name=systemd") {
			continue
		}
		last := path.Base(g.Path)
		if strings.HasSuffix(last, ".service") && !strings.HasPrefix(last, "user@") || containerID.MatchString(last) {
			return g.Path
		}
	}
	return ""
}

// containerID is part of the name of a container's group.
var containerID = regexp.MustCompile(`[0-9a-f]{64}`)
