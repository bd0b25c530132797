package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"regexp"
	"text/template"
)

// Manifest describes a job by which Kubernetes runs agents.
type Manifest struct {
	Name   string // of the Job and, with a suffix, of what belongs to it
	Image  string
	Agents int
	CPUs   int // that each agent asks for
	Join   Address
	Token  string // to be written in a Secret; "": the Job refers to a Secret that is there
}

// memoryPerCPU is the limit of an agent's memory for each CPU, in GiB; it mostly needs less than 0.2 GiB. Its processor
// time has no limit: with one it would be late.
const memoryPerCPU = 2

// restartsPerAgent is Kubernetes' own limit for a Job of one pod.
const restartsPerAgent = 6

var (
	label = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,40}[a-z0-9])?$`)
	// serviceName is what Kubernetes allows as the name of a Service.
	serviceName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
	image       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)
)

// Check refuses what Kubernetes, or an agent in a pod, can't use.
func (m Manifest) Check() error {
	host, port, err := net.SplitHostPort(m.Join.hostPort())
	switch {
	case err != nil || port == "":
		return fmt.Errorf("--control %q: give the control server as nats://HOST:PORT", m.Join.Server)
	case !label.MatchString(m.Name):
		return fmt.Errorf("--name %q: allowed are up to 42 small letters, digits and -, of which the first is a letter and the last is no -", m.Name)
	case !image.MatchString(m.Image):
		return fmt.Errorf("--image %q: allowed is the name of a container image that has brokermark as its entry point", m.Image)
	case m.Agents < 1:
		return fmt.Errorf("--agents %d: allowed is 1 or more", m.Agents)
	case m.CPUs < 1:
		return fmt.Errorf("--cpus %d: allowed is 1 or more", m.CPUs)
	case local(host):
		return fmt.Errorf("--control: %s is the pod itself; give a name or an address at which pods reach the control server", host)
	case m.Join.CA != "":
		return fmt.Errorf("--control: no pod has the file %s; give the fingerprint of the server's certificate (?pin=sha256:…)", m.Join.CA)
	}
	return nil
}

// Write writes the manifest as YAML. It holds a Service that leads to the control server if that has a name without a dot, which is
// one of the same namespace. Other names and addresses are outside the cluster, or of a Service that is there.
func (m Manifest) Write(w io.Writer) error {
	service, port, err := net.SplitHostPort(m.Join.hostPort())
	if err != nil {
		return err
	}
	if !serviceName.MatchString(service) {
		service = ""
	}
	return manifest.Execute(w, struct {
		Manifest
		Restarts, Memory              int
		Service, Port, Secret, Server string
	}{
		Manifest: m, Restarts: restartsPerAgent * m.Agents, Memory: memoryPerCPU * m.CPUs,
		Service: service, Port: port, Secret: m.Name + "-token", Server: m.Join.String(),
	})
}

// quoted returns a text as YAML and JSON both read it. Without quotes YAML reads the name "no" as a truth value.
func quoted(s string) string {
	text, _ := json.Marshal(s) // a string can always be written
	return string(text)
}

// An agent needs little of a cluster: no rights, no account, and a folder that goes with the pod.
var manifest = template.Must(template.New("manifest").Funcs(template.FuncMap{"quoted": quoted}).Parse(`# Agents of brokermark for Kubernetes: kubectl apply -f FILE
{{- if .Token}}
# The Secret holds the token: keep this file to yourself.
---
apiVersion: v1
kind: Secret
metadata:
  name: {{.Secret}}
  labels: {app.kubernetes.io/name: brokermark, app.kubernetes.io/instance: {{quoted .Name}}}
type: Opaque
stringData:
  token: {{quoted .Token}}
{{- else}}
# The token is not in here. Its Secret is made with: kubectl create secret generic {{.Secret}} --from-file=token=FILE
{{- end}}
{{- if .Service}}
---
# Leads to the control server, in the pod of brokermark run that has these labels.
apiVersion: v1
kind: Service
metadata:
  name: {{quoted .Service}}
  labels: {app.kubernetes.io/name: brokermark, app.kubernetes.io/instance: {{quoted .Name}}}
spec:
  selector: {app.kubernetes.io/name: brokermark, app.kubernetes.io/component: coordinator}
  ports:
    - {name: control, port: {{.Port}}, targetPort: {{.Port}}}
{{- end}}
---
# Agents accept no connections. What they reach is the control server and the broker, which only the run knows.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{quoted .Name}}
  labels: {app.kubernetes.io/name: brokermark, app.kubernetes.io/instance: {{quoted .Name}}}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/component: agent, app.kubernetes.io/instance: {{quoted .Name}}}}
  policyTypes: [Ingress]
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{quoted .Name}}
  labels: {app.kubernetes.io/name: brokermark, app.kubernetes.io/instance: {{quoted .Name}}}
spec:
  completionMode: Indexed
  completions: {{.Agents}}
  parallelism: {{.Agents}}
  backoffLimit: {{.Restarts}} # of all containers together, after which the Job ends all pods
  ttlSecondsAfterFinished: 3600
  template:
    metadata:
      labels: {app.kubernetes.io/name: brokermark, app.kubernetes.io/component: agent, app.kubernetes.io/instance: {{quoted .Name}}}
    spec:
      restartPolicy: OnFailure
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      topologySpreadConstraints: # one agent a node, as far as there are nodes
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app.kubernetes.io/component: agent, app.kubernetes.io/instance: {{quoted .Name}}}}
      volumes:
        - {name: work, emptyDir: {}}
      containers:
        - name: agent
          image: {{quoted .Image}}
          args: [agent, --join, {{quoted .Server}}, --token-env, BROKERMARK_TOKEN, --once]
          env:
            - name: BROKERMARK_TOKEN
              valueFrom: {secretKeyRef: {name: {{.Secret}}, key: token}}
            - {name: BROKERMARK_HOME, value: /work} # keeps results when the container is started again
          volumeMounts:
            - {name: work, mountPath: /work}
          resources: {requests: {cpu: "{{.CPUs}}", memory: 512Mi}, limits: {memory: {{.Memory}}Gi}}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
`))
