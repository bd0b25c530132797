package natsio

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/brokermark/brokermark/internal/provision"
)

const program = "nats-server"

func init() { provision.RegisterProgram(program, serve) }

// serve does what nats-server's own main does with "-c FILE": same defaults, same signals, log on stderr. A second argument is the file for a
// profile of its processor time.
func serve(args []string) int {
	if len(args) != 1 && len(args) != 2 {
		fmt.Fprintf(os.Stderr, "%s: want one configuration file, got %q\n", program, args)
		return 2
	}
	opts, err := server.ProcessConfigFile(args[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 2
	}
	opts.NoSigs = len(args) == 2 // the server's own handler ends the process before the profile is written
	s, err := server.NewServer(opts)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 1
	}
	s.ConfigureLogger()
	if len(args) == 2 {
		end, err := profile(args[1], s.Shutdown)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
			return 1
		}
		defer end()
	}
	if err := server.Run(s); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 1
	}
	s.WaitForShutdown()
	return 0
}

// profile writes the processor time of this process to path until end is called. SIGTERM shuts the server down.
func profile(path string, shutdown func()) (end func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-asked
		shutdown()
	}()
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		}
	}, nil
}
