package pulsar

import "embed"

// locks are the SHA-256 of the files of each version.
//
//go:embed locks
var locks embed.FS
