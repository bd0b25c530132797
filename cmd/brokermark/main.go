// Brokermark measures message brokers; see the help of its commands.
package main

import (
	"context"
	"os"

	"github.com/brokermark/brokermark/internal/cli"
	"github.com/brokermark/brokermark/internal/provision"
)

func main() {
	provision.Main() // first: this process may have been started to be a broker or to look after one
	ctx, stop := cli.Interruptible(context.Background())
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
