package pulsar

import "embed"

// locks are the SHA-256 of the files that each version is fetched as.
//
//go:embed locks
var locks embed.FS
