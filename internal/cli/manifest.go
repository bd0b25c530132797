package cli

import (
	"github.com/spf13/cobra"

	"github.com/brokermark/brokermark/internal/fleet"
)

func (s *shell) agentManifestCommand() *cobra.Command {
	var m fleet.Manifest
	var control, token string
	c := &cobra.Command{
		Use:   "manifest",
		Short: "Print a Kubernetes manifest that runs agents",
		Long: `Manifest prints an Indexed Job of agents for kubectl apply, and a Service that
leads to the control server where that is a pod of the same namespace. Its pods
have no rights and no account. The token is in a Secret that you make, as the
first lines say, or in one that is printed with --with-token.`,
		Annotations: exitCodes(),
		Example: "  brokermark agent manifest --image registry.example.org/brokermark --agents 4 --control 'nats://192.0.2.7:4248?pin=sha256:…'\n" +
			"  brokermark agent manifest --image brokermark:1.0 --agents 8 --cpus 4 --control 'nats://bench:4248?pin=sha256:…' > agents.yaml\n" +
			"  brokermark agent manifest --image brokermark:1.0 --agents 2 --control 'nats://bench:4248?pin=sha256:…' --with-token token | kubectl apply -f -",
		Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if m.Image == "" || control == "" {
				return badInput("--image and --control are needed: what the pods run, and where they reach the run")
			}
			var err error
			if m.Join, err = fleet.ParseAddress(control); err != nil {
				return badInput("%v", err)
			}
			if token != "" {
				if m.Token, err = fleet.ReadToken(token); err != nil {
					return badInput("%v", err)
				}
			}
			if err := m.Check(); err != nil {
				return badInput("%v", err)
			}
			return m.Write(s.out)
		},
	}
	f := c.Flags()
	f.StringVar(&m.Image, "image", "", "container `image` with brokermark as its entry point")
	f.IntVar(&m.Agents, "agents", 1, "how many agents")
	f.StringVar(&control, "control", "", joinDoc)
	f.StringVar(&m.Name, "name", "brokermark-agents", "`name` of the Job and of its other objects")
	f.IntVar(&m.CPUs, "cpus", 1, "how many CPUs each agent asks for")
	f.StringVar(&token, "with-token", "", "`file` with a token, which is printed as a Secret")
	return c
}
