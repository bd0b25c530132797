package fleet_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/fleet"
)

const joining = "nats://bench:4248?pin=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func address(t *testing.T, text string) fleet.Address {
	t.Helper()
	a, err := fleet.ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// kinds validates a manifest against the schema that Kubernetes publishes (1.37, of Job, NetworkPolicy, Secret and Service, without the
// descriptions; fields that it doesn't know are errors) and returns its objects by their kinds.
func kinds(t *testing.T, text string) (map[string]map[string]any, error) {
	t.Helper()
	file, err := os.Open("testdata/kubernetes-1.37.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	published, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("kubernetes.json", published); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o map[string]any
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		kind, _ := o["kind"].(string)
		name := map[string]string{"Job": "io.k8s.api.batch.v1.Job", "Secret": "io.k8s.api.core.v1.Secret", "Service": "io.k8s.api.core.v1.Service", "NetworkPolicy": "io.k8s.api.networking.v1.NetworkPolicy"}[kind]
		s, err := c.Compile("kubernetes.json#/$defs/" + name)
		if err != nil {
			t.Fatalf("kind %q: %v\n%s", kind, err, text)
		}
		if err := s.Validate(o); err != nil {
			return nil, err
		}
		all[kind] = o
	}
}

// at is what a path of keys and indices leads to.
func at(o any, path ...any) any {
	for _, p := range path {
		switch key := p.(type) {
		case string:
			m, _ := o.(map[string]any)
			o = m[key]
		case int:
			list, _ := o.([]any)
			o = list[key]
		}
	}
	return o
}

// written checks and writes a manifest, and returns its objects by kind and its text.
func written(t *testing.T, m fleet.Manifest) (map[string]map[string]any, string) {
	t.Helper()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	all, err := kinds(t, text.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, &text)
	}
	return all, text.String()
}

func TestAManifestIsWhatKubernetesTakes(t *testing.T) {
	for _, c := range []struct {
		name, control, token string
		want                 []string
	}{
		{"a coordinator in the cluster", joining, "", []string{"Job", "NetworkPolicy", "Service"}},
		{"with the token", joining, "a token\n: \"that\" has: {to be} quoted", []string{"Job", "NetworkPolicy", "Secret", "Service"}},
		{"a coordinator outside", strings.Replace(joining, "bench", "bench-1.example.org", 1), "", []string{"Job", "NetworkPolicy"}},
		{"at an address", strings.Replace(joining, "bench", "192.0.2.7", 1), "0123456789abcdef", []string{"Job", "NetworkPolicy", "Secret"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fleet.Manifest{Name: "load", Image: "registry.example.org/team/brokermark:1.2@sha256:00", Agents: 7, CPUs: 3, Join: address(t, c.control), Token: c.token}
			all, text := written(t, m)
			for _, kind := range c.want {
				if all[kind] == nil {
					t.Errorf("no %s in\n%s", kind, text)
				}
			}
			if len(all) != len(c.want) {
				t.Errorf("%d kinds in\n%s", len(all), text)
			}
			if got := at(all["Secret"], "stringData", "token"); c.token != "" && got != c.token {
				t.Errorf("the token became %q", got)
			}
			job := all["Job"]
			container := at(job, "spec", "template", "spec", "containers", 0)
			secret := at(container, "env", 0, "valueFrom", "secretKeyRef", "name")
			if at(job, "spec", "completions") != 7 || at(job, "spec", "parallelism") != 7 || at(job, "spec", "completionMode") != "Indexed" || at(container, "image") != m.Image ||
				secret != "load-token" || c.token != "" && at(all["Secret"], "metadata", "name") != secret {
				t.Errorf("%s", text)
			}
			// A container that is started again in its pod finds the results that its predecessor kept.
			spec := at(job, "spec", "template", "spec")
			home, volume, mount := at(container, "env", 1), at(spec, "volumes", 0), at(container, "volumeMounts", 0)
			if at(spec, "restartPolicy") != "OnFailure" || at(job, "spec", "backoffLimit") != 6*m.Agents || at(volume, "emptyDir") == nil ||
				at(home, "name") != "BROKERMARK_HOME" || at(home, "value") != at(mount, "mountPath") || at(volume, "name") != at(mount, "name") {
				t.Errorf("results don't survive a restart:\n%s", text)
			}
			// They take no memory from what else runs on their node, and nobody connects to them.
			if memory := at(container, "resources", "limits", "memory"); memory != "6Gi" {
				t.Errorf("an agent may take %v of memory", memory)
			}
			policy, labels := all["NetworkPolicy"], at(job, "spec", "template", "metadata", "labels")
			for key, value := range at(policy, "spec", "podSelector", "matchLabels").(map[string]any) {
				if at(labels, key) != value {
					t.Errorf("the policy is of pods with %s: %v", key, value)
				}
			}
			if at(policy, "spec", "policyTypes", 0) != "Ingress" || at(policy, "spec", "ingress") != nil {
				t.Errorf("somebody may connect to agents:\n%s", text)
			}
			if s := all["Service"]; s != nil && (at(s, "metadata", "name") != "bench" || at(s, "spec", "ports", 0, "port") != 4248) {
				t.Errorf("%s", text)
			}
		})
	}
}

// A schema that takes everything would prove nothing.
func TestTheSchemaOfKubernetesRefusesAMistypedKey(t *testing.T) {
	var text bytes.Buffer
	m := fleet.Manifest{Name: "load", Image: "brokermark", Agents: 1, CPUs: 1, Join: address(t, joining)}
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	if _, err := kinds(t, strings.Replace(text.String(), "restartPolicy:", "restartpolicy:", 1)); err == nil || !strings.Contains(err.Error(), "restartpolicy") {
		t.Errorf("%v", err)
	}
}

// YAML reads a bare no as a truth value, which Kubernetes refuses as a name. Services may have 63 characters.
func TestAManifestTakesEveryNameThatIsAllowed(t *testing.T) {
	host := strings.Repeat("b", 63)
	m := fleet.Manifest{Name: "no", Image: "brokermark", Agents: 1, CPUs: 1, Join: address(t, strings.Replace(joining, "bench", host, 1))}
	all, text := written(t, m)
	if at(all["Job"], "metadata", "name") != "no" || at(all["Service"], "metadata", "name") != host {
		t.Errorf("%s", text)
	}
}
