package fleet

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/micro"
)

// idOf returns the ID of the agent, or of another client, that has a key: only the holder of the key can have it.
func idOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// inboxOf returns the prefix of the subjects at which a client gets its answers.
func inboxOf(id string) string { return "_INBOX." + id }

// gate lets clients in that have the token, and gives each the permissions of an agent: it can neither read what another one is told
// nor answer in its place. The coordinator, which is in the server's process, has a token of its own and may do everything.
type gate struct{ token, coordinator string }

// Check implements server.Authentication.
func (g gate) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if equal(o.Token, g.coordinator) {
		return true
	}
	if !equal(o.Token, g.token) || o.Username != idOf(o.Password) {
		return false
	}
	c.RegisterUser(&server.User{Username: o.Username, Permissions: permissionsOf(o.Username)})
	return true
}

func equal(a, b string) bool {
	one, two := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(one[:], two[:]) == 1
}

// permissionsOf returns an agent's permissions. It may answer a question once, and list the agents.
func permissionsOf(id string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{subjectUp(id, "*"), micro.APIPrefix + ".STATS." + service}},
		Subscribe: &server.SubjectPermission{Allow: []string{
			subjectDown(id, "*"), subjectOf(id, "*"), micro.APIPrefix + ".>", inboxOf(id) + ".>",
		}},
		Response: &server.ResponsePermission{MaxMsgs: 1, Expires: askTime},
	}
}
