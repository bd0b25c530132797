package natsio

import (
	"crypto/rand"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// Block is a block of nats-server's configuration: values, lists and blocks by native name.
type Block map[string]any

// Configure writes n's configuration: what every node needs, own, and the cluster's settings, whose names may be
// dotted paths ("jetstream.max_mem").
func Configure(n *provision.Node, own Block) error {
	all, err := Compose(n, own, driver.Flatten(n.Cluster.Settings))
	if err != nil {
		return err
	}
	return n.Write(fileName, []byte(all.String()))
}

// Compose makes n's configuration of what every node needs, own and settings by dotted paths. The server's own parser
// checks every setting, so that a wrong one is refused by name before the start.
func Compose(n *provision.Node, own Block, settings map[string]any) (Block, error) {
	all := common(n)
	maps.Copy(all, own)
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		if err := all.Set(path, settings[path]); err != nil {
			return nil, err
		}
		alone := Block{}
		if err := alone.Set(path, settings[path]); err != nil {
			return nil, err
		}
		read, err := parse(alone)
		if err != nil {
			return nil, &provision.ErrSetting{Name: path, Reason: err.Error()}
		}
		if ours(read) {
			return nil, &provision.ErrSetting{Name: path, Reason: "it says where the server listens or stores, which the recipe decides"}
		}
	}
	read, err := parse(all)
	if err != nil {
		return nil, fmt.Errorf("nats-server's configuration: %w", err)
	}
	read.NoSigs = true                                // it would end this process when that is interrupted
	if _, err := server.NewServer(read); err != nil { // settings that contradict each other; it isn't started
		for _, path := range slices.Sorted(maps.Keys(settings)) {
			if strings.Contains(err.Error(), path[strings.LastIndexByte(path, '.')+1:]) {
				return nil, &provision.ErrSetting{Name: path, Reason: err.Error()}
			}
		}
		return nil, fmt.Errorf("nats-server's configuration: %w", err)
	}
	return all, nil
}

const fileName = "nats.conf"

func file(n *provision.Node) string { return filepath.Join(n.Dir, fileName) }

func common(n *provision.Node) Block {
	c := n.Cluster
	all := Block{
		"server_name": n.Name(),
		"listen":      n.Address(),
		"http":        n.At("monitor"),
	}
	if c.TLS != nil {
		all["tls"] = Block{"cert_file": c.TLS.Cert, "key_file": c.TLS.Key, "ca_file": c.TLS.CA, "verify": c.TLS.Mutual}
	}
	if c.Login != nil {
		all["authorization"] = Block{"user": c.Login.User, "password": c.Login.Password}
	}
	if len(c.Nodes) > 1 {
		inner, login := Block{"name": c.ID, "listen": n.At("route")}, ""
		if c.Login != nil || c.TLS != nil && c.TLS.Mutual { // or any other server could join the cluster
			secret := routeSecret(c)
			inner["authorization"], login = Block{"user": routeUser, "password": secret}, routeUser+":"+secret+"@"
		}
		var routes []any
		for _, m := range c.Nodes {
			routes = append(routes, "nats://"+login+m.At("route"))
		}
		inner["routes"] = routes
		all["cluster"] = inner
	}
	return all
}

const routeUser = "route"

// routeSecret returns the password by which the servers of a cluster recognise each other.
func routeSecret(c *provision.Cluster) string {
	if c.Facts == nil {
		c.Facts = map[string]string{}
	}
	if c.Facts[routeUser] == "" {
		c.Facts[routeUser] = rand.Text()
	}
	return c.Facts[routeUser]
}

// known returns the name in b that the server takes for the same, whatever the case of its letters; else name.
func (b Block) known(name string) string {
	for there := range b {
		if strings.EqualFold(there, name) {
			return there
		}
	}
	return name
}

// ours reports whether settings decide where the server listens or stores, by any of their names.
func ours(o *server.Options) bool {
	texts := o.StoreDir + o.Host + o.HTTPHost + o.Cluster.Host + o.Gateway.Host + o.Gateway.Name + o.LeafNode.Host + o.Websocket.Host + o.MQTT.Host
	return texts != "" || o.Port != 0 || o.HTTPPort != 0 || o.HTTPSPort != 0 || o.ProfPort != 0 ||
		o.Cluster.Port != 0 || o.Gateway.Port != 0 || o.LeafNode.Port != 0 || o.Websocket.Port != 0 || o.MQTT.Port != 0
}

// Set puts v at path, unless the recipe has put something there.
func (b Block) Set(path string, v any) error {
	at := b
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		name = at.known(name)
		if _, ok := at[name]; !ok {
			at[name] = Block{}
		}
		next, ok := at[name].(Block)
		if !ok {
			return &provision.ErrSetting{Name: path, Reason: name + " is not a block"}
		}
		at = next
	}
	last := at.known(names[len(names)-1])
	if was, ok := at[last]; ok {
		return &provision.ErrSetting{Name: path, Reason: fmt.Sprintf("set by the recipe, to %v", was)}
	}
	at[last] = v
	return nil
}

// The server takes 64MB for a number only where it isn't quoted.
var sized = regexp.MustCompile(`^-?\d+([KMGTkmgt]i?[Bb]?)?$`)

// String returns the block in nats-server's syntax.
func (b Block) String() string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b)) {
		fmt.Fprintf(&out, "%s: %s\n", name, render(b[name]))
	}
	return out.String()
}

func render(v any) string {
	switch v := v.(type) {
	case Block:
		return "{\n" + v.String() + "}"
	case map[string]any:
		return render(Block(v))
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = render(v[i])
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		if sized.MatchString(v) {
			return v
		}
		return strconv.Quote(v)
	}
	return provision.Text(v)
}

var position = regexp.MustCompile(`^(<config>|:)?:?\d+:\d+:? ?`)

// parse has the server's own parser read b.
func parse(b Block) (*server.Options, error) {
	read := &server.Options{}
	err := read.ProcessConfigString(b.String())
	if many, ok := err.(interface{ Errors() []error }); ok {
		if len(many.Errors()) == 0 {
			return read, nil // warnings only
		}
		err = many.Errors()[0]
	}
	if err != nil {
		return nil, fmt.Errorf("%s", position.ReplaceAllString(err.Error(), ""))
	}
	return read, nil
}
