package mosquitto

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/brokers/internal/mqtt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// ours are settings, or the beginnings of their names, that the recipe sets itself.
var ours = []string{
	"listener", "port", "require_certificate", "bind_", "socket_domain", "mount_point", "cafile", "capath", "certfile", "keyfile",
	"persistence_", "pid_file", "log_", "user", "include_dir", "auto_id_prefix", "connection", "address", "per_listener_settings",
	"password_file", "http_dir", "bridge_", "remote_", "local_",
}

// protocol is what the listener speaks.
const protocol = "protocol"

// defaults make acknowledged messages stay until they are delivered: with its own defaults, 20 and 1000, the server drops
// acknowledged messages once a consumer is more than a thousand behind.
var defaults = map[string]any{"max_inflight_messages": 1000, "max_queued_messages": 0, "allow_anonymous": true, "set_tcp_nodelay": true}

// last is not a setting. The server reads its file line by line and stops at the first line that it rejects: if that is
// last, it has accepted the names and values of all others.
const last = "end_of_what_was_asked_for"

var complaint = regexp.MustCompile(`(?s)Error: ([^\n]*)\n.*Error found at [^\n]*:(\d+)`)

func configure(ctx context.Context, n *provision.Node) error {
	settings := driver.Completed(n.Cluster.Settings, defaults)
	known, err := passwords(n.Cluster.Login)
	if err != nil {
		return err
	}
	if n.Cluster.Login != nil {
		if _, asked := n.Cluster.Settings["allow_anonymous"]; asked {
			return &provision.ErrSetting{Name: "allow_anonymous", Reason: "a login is demanded"}
		}
		settings["allow_anonymous"] = false
	}
	lines := node(n)
	first := len(lines) // lines after these were asked for
	names := slices.Sorted(maps.Keys(settings))
	for _, name := range names {
		value := provision.Text(settings[name])
		if slices.ContainsFunc(ours, func(o string) bool { return strings.HasPrefix(name, o) }) {
			return &provision.ErrSetting{Name: name, Reason: "it is set by the recipe, so that the broker is found and alone"}
		}
		if name == "" || strings.ContainsAny(name, " #\t\r\n") || strings.ContainsAny(value, "\r\n") {
			return &provision.ErrSetting{Name: name, Reason: "name and value must fit one line of mosquitto.conf"}
		}
		if name == protocol && value != "mqtt" && value != mqtt.WebSockets {
			return &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q; allowed: mqtt, %s", value, mqtt.WebSockets)}
		}
		if _, err := strconv.ParseInt(value, 10, 64); err != nil && strings.HasPrefix(name, "max_") { // 0 to the server
			return &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not a whole number", value)}
		}
		lines = append(lines, name+" "+value)
	}
	if err := n.Write("passwords", known); err != nil {
		return err
	}
	if len(n.Cluster.Settings) > 0 {
		if err := accepted(ctx, n, append(lines, last+" 1"), names, first); err != nil {
			return err
		}
	}
	return write(n, lines)
}

func write(n *provision.Node, lines []string) error {
	return n.Write(confFile, []byte(strings.Join(lines, "\n")+"\n"))
}

// accepted has the server itself check the settings: names stand in the lines after first.
func accepted(ctx context.Context, n *provision.Node, lines, names []string, first int) error {
	if err := write(n, lines); err != nil {
		return err
	}
	c, err := command(n)
	if err != nil {
		return err
	}
	out, err := n.Run(ctx, c)
	m := complaint.FindStringSubmatch(out)
	if m == nil {
		return fmt.Errorf("check the server settings: %w\n%s", err, out)
	}
	if strings.Contains(m[1], last) {
		return nil
	}
	line, _ := strconv.Atoi(m[2])
	if i := line - 1 - first; i >= 0 && i < len(names) {
		return &provision.ErrSetting{Name: names[i], Reason: m[1]}
	}
	return fmt.Errorf("check the server settings: line %d: %s", line, m[1])
}

const confFile = "mosquitto.conf"

func conf(n *provision.Node) string { return filepath.Join(n.Dir, confFile) }

// node returns the lines that every node of ours needs. Without a login the password file is empty: wrong credentials are
// refused, and clients without credentials are let in.
func node(n *provision.Node) []string {
	lines := []string{
		"log_dest stdout", "persistence_location " + n.Data + "/",
		fmt.Sprintf("listener %d 127.0.0.1", n.Ports["client"]),
		"auto_id_prefix " + n.Cluster.ID + "-",
		"password_file " + filepath.Join(n.Dir, "passwords"),
	}
	if t := n.Cluster.TLS; t != nil {
		lines = append(lines, "cafile "+t.CA, "certfile "+t.Cert, "keyfile "+t.Key, fmt.Sprintf("require_certificate %t", t.Mutual))
	}
	return lines
}

// passwords returns the server's password file with login alone in it, as mosquitto_passwd would write it.
func passwords(login *provision.Login) ([]byte, error) {
	if login == nil {
		return nil, nil
	}
	const iterations = 101 // the server's own default
	salt := make([]byte, 12)
	_, _ = rand.Read(salt) // never fails
	hash, err := pbkdf2.Key(sha512.New, login.Password, salt, iterations, sha512.Size)
	if err != nil {
		return nil, fmt.Errorf("hash the password: %w", err)
	}
	text := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, "%s:$7$%d$%s$%s\n", login.User, iterations, text(salt), text(hash)), nil
}
