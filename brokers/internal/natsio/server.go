package natsio

import (
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/provision"
)

const program = "nats-server"

func init() { provision.RegisterProgram(program, serve) }

// serve does what nats-server's own main does with "-c FILE": same defaults, same signals, log on stderr.
func serve(args []string) int {
	if len(args) != 1 {
		fmt.Fprintf(os.Stderr, "%s: want one configuration file, got %q\n", program, args)
		return 2
	}
	opts, err := server.ProcessConfigFile(args[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 2
	}
	s, err := server.NewServer(opts)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 1
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 1
	}
	s.WaitForShutdown()
	return 0
}
