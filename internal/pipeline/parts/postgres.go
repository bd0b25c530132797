package parts

import (
	"context"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/brokermark/brokermark/internal/provision"
)

// Postgres is the recipe of the database that a consumer can keep its state in, from Debian's packages. It wants a login.
const Postgres = "postgresql"

const (
	postgresVersion = "17"
	postgresDir     = "/usr/lib/postgresql/" + postgresVersion + "/bin/"
	database        = "postgres" // which initdb makes
	passwordFile    = "password"
)

func init() {
	provision.Register(provision.Recipe{
		Broker: Postgres, Part: true, Ports: []string{"client"}, MaxNodes: 1, Login: true,
		Versions: []provision.Version{{Name: postgresVersion, Needs: []provision.Need{{Command: "apt-get"}, {Command: "dpkg"}}}},
		Install: func(ctx context.Context, i *provision.Install) error {
			return i.AptTree(ctx, "trixie", "postgresql-"+postgresVersion, "bubblewrap")
		},
		Configure: configurePostgres,
		Command: func(n *provision.Node) (provision.Command, error) {
			return enclosed(n, "postgres", "-D", cluster(n), "-p", strconv.Itoa(n.Ports["client"]),
				"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=")
		},
		Ready: func(ctx context.Context, n *provision.Node) error {
			c, err := pgx.Connect(ctx, PostgresURL(n.Address(), *n.Cluster.Login)) // only this instance has its password
			if err != nil {
				return err
			}
			return c.Close(ctx)
		},
		Stop: stopPostgres,
	})
}

// PostgresURL returns the URL of the database at an address.
func PostgresURL(address string, l provision.Login) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(l.User, l.Password), Host: address, Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// cluster returns the directory of the database's files: initdb wants one that it has created itself.
func cluster(n *provision.Node) string { return filepath.Join(n.Data, "cluster") }

// enclosed runs one of PostgreSQL's programs. They call each other, and initdb wants its user to have a name, which no user
// has in the tree; memory shared between them goes with the last process.
func enclosed(n *provision.Node, program string, args ...string) (provision.Command, error) {
	return provision.Enclosed(n, provision.Command{Args: args}, postgresDir+program, "--unshare-user", "--uid", "65534", "--gid", "65534", "--unshare-ipc")
}

func configurePostgres(ctx context.Context, n *provision.Node) error {
	for name := range n.Cluster.Settings {
		return &provision.ErrSetting{Name: name, Reason: "the database has its own defaults and no settings here"}
	}
	if n.Cluster.Login == nil {
		return &provision.ErrRefused{Broker: Postgres, Reason: "it needs a user and a password"}
	}
	if err := n.Write(passwordFile, []byte(n.Cluster.Login.Password+"\n")); err != nil {
		return err
	}
	c, err := enclosed(n, "initdb", "-D", cluster(n), "--username="+n.Cluster.Login.User, "--pwfile="+filepath.Join(n.Dir, passwordFile),
		"--auth=scram-sha-256", "--encoding=UTF8", "--no-locale")
	if err != nil {
		return err
	}
	_, err = n.Run(ctx, c)
	return err
}

// stopPostgres names the database itself: the enclosure around it does not pass signals on.
func stopPostgres(n *provision.Node) (pid int, s syscall.Signal, err error) {
	text, err := n.Read("data/cluster/postmaster.pid", 4096)
	if err != nil {
		return 0, 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err = strconv.Atoi(line)
	return pid, syscall.SIGINT, err
}
