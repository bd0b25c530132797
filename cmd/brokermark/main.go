// Brokermark measures message brokers; see the help of its commands.
package main

import (
	"os"

	"github.com/brokermark/brokermark/internal/cli"
	"github.com/brokermark/brokermark/internal/provision"
)

func main() {
	provision.Main() // first: this process may have been started to be a broker or to look after one
	os.Exit(cli.Program())
}
