package all_test

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/internal/provision"
)

// A server that is installed as a package of the machine makes a system service, which listens from the next boot on: what
// recipes may ask the machine for are tools that run nothing by themselves.
func TestNoBrokerIsInstalledAsAServiceOfTheMachine(t *testing.T) {
	tools := []string{"default-jre-headless", "default-jdk-headless", "maven", "golang-go"}
	versions := 0
	for _, name := range provision.Names() {
		r, err := provision.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Versions {
			versions++
			for _, n := range v.Needs {
				for _, p := range n.Apt {
					if !slices.Contains(tools, p) {
						t.Errorf("%s %s installs the package %s on the machine: does it start a service?", name, v.Name, p)
					}
				}
			}
		}
	}
	if versions < 20 {
		t.Errorf("only %d versions were looked at", versions)
	}
}
