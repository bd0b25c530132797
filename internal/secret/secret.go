// Package secret tells passwords from other text by where they stand, and some by their form, and takes them out. It knows no password.
package secret

import (
	"regexp"
	"strings"
)

// Hidden stands where a secret was.
const Hidden = "xxxxx"

// What the names of settings that hold a secret end in, of any product.
var named = regexp.MustCompile(`(?i)(^|[^a-z])(require|master|default_|ssl)?(pass|password|passwd|passphrase|pwd|auth_?pass|requirepass|masterauth|secret|secrets|token|credentials?|api_?key|private_?key|access_?key|master\.key|jaas\.config)$|[a-z](Password|Passphrase|Secret|Token|Credentials?)$`)

// Name reports whether a setting of that name holds a secret.
func Name(setting string) bool { return named.MatchString(setting) }

var (
	// userinfo is a URL with a password, however many slashes it has and whatever the password is of.
	userinfo = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]+:/{1,3})([^\s/:@'"]*):([^\s'"]+)@`)
	// mistyped is the URL of a database that lacks its colon or its slashes, with a password.
	mistyped = regexp.MustCompile(`(?i)\b(postgres(?:ql)?[:/]+)([^\s/:@'"]*):([^\s'"]+)@`)
	// schemeless is what follows the slashes of such a URL, by itself: user:password@host/database.
	schemeless = regexp.MustCompile(`(^|[\s='"])([\w.-]+):([^\s/'"]+)@((?:[\w.-]+|\[[\da-fA-F:]+\])(?::\d+)?/\w)`)
	// token is a URL with something before its host that may be a user or a token.
	token = regexp.MustCompile(`(?i)\b((?:nats|tls|ws|wss|redis|rediss|mqtt|amqp|amqps|pulsar)://)([^\s/:@'"]+)@`)
	// pair is name=value with the name of a secret, as in connection strings, parameters and settings.
	pair = regexp.MustCompile(`(?i)\b((?:[\w.-]*[._-])?(?:ssl)?(?:pass|password|passwd|passphrase|pwd|requirepass|masterauth|secret|token|api_?key|private_?key|jaas\.config)=)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s&;,'"]+)`)
	// flagged is an address with something before it that may be a user or a token.
	flagged = regexp.MustCompile(`(--attach[ =]['"]?|\battach=)([^\s'"]+)@`)
)

// bare are secrets that are known by their form: a JSON Web Token, and the seed of an nkey.
var bare = regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+\.[\w-]*|\bS[ACNOUX][A-Z2-7]{56}\b`)

// Redact is text as it may be shown to anyone: secrets that stand where secrets stand are taken out.
func Redact(text string) string {
	text = bare.ReplaceAllString(text, Hidden)
	if !strings.ContainsAny(text, "@=") {
		return text
	}
	text = userinfo.ReplaceAllString(text, "${1}${2}:"+Hidden+"@")
	text = mistyped.ReplaceAllString(text, "${1}${2}:"+Hidden+"@")
	text = schemeless.ReplaceAllString(text, "${1}${2}:"+Hidden+"@${4}")
	text = token.ReplaceAllString(text, "${1}"+Hidden+"@")
	text = flagged.ReplaceAllString(text, "${1}"+Hidden+"@")
	return pair.ReplaceAllString(text, "${1}"+Hidden)
}

// In reports whether text holds a secret.
func In(text string) bool { return Redact(text) != text }
