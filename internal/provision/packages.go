package provision

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// Maven puts the jars of the coordinates (group:artifact:version, or group:artifact:type:classifier:version) and all
// they need at run time into Dir/lib. Name exact versions: ranges make Maven read every version there is.
func (i *Install) Maven(ctx context.Context, coordinates ...string) error {
	if err := need("mvn", "maven"); err != nil {
		return err
	}
	var deps []dependency
	for _, c := range coordinates {
		d, err := parseCoordinate(c)
		if err != nil {
			return err
		}
		deps = append(deps, d)
	}
	work, err := os.MkdirTemp(i.Dir, ".maven-") // as in AptTree
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	pom, err := os.Create(filepath.Join(work, "pom.xml"))
	if err != nil {
		return err
	}
	defer pom.Close()
	if err := pomTemplate.Execute(pom, deps); err != nil {
		return err
	}
	i.Log("fetching %s with Maven", strings.Join(coordinates, ", "))
	return i.Exec(ctx, work, "mvn", MavenArgs("copy-dependencies",
		"-DoutputDirectory="+filepath.Join(i.Dir, "lib"), "-DincludeScope=runtime")...)
}

// copier is the plugin that copies artifacts, in the version that Debian's Maven takes by itself.
const copier = "org.apache.maven.plugins:maven-dependency-plugin:2.8"

// MavenArgs are the arguments to have a goal of the plugin run: a file whose checksum doesn't fit, or isn't there, fails it.
func MavenArgs(goal string, options ...string) []string {
	return append([]string{"-q", "-B", "--strict-checksums", "-Dstyle.color=never", copier + ":" + goal}, options...)
}

type dependency struct{ Group, Artifact, Type, Classifier, Version string }

func parseCoordinate(c string) (dependency, error) {
	switch p := strings.Split(c, ":"); len(p) {
	case 3:
		return dependency{Group: p[0], Artifact: p[1], Version: p[2]}, nil
	case 5:
		return dependency{Group: p[0], Artifact: p[1], Type: p[2], Classifier: p[3], Version: p[4]}, nil
	}
	return dependency{}, fmt.Errorf("maven coordinate %q: want group:artifact:version or group:artifact:type:classifier:version", c)
}

var pomTemplate = template.Must(template.New("pom").Parse(`<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>brokermark</groupId><artifactId>install</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>{{range .}}
    <dependency><groupId>{{.Group}}</groupId><artifactId>{{.Artifact}}</artifactId><version>{{.Version}}</version>
      {{- if .Type}}<type>{{.Type}}</type>{{end}}{{if .Classifier}}<classifier>{{.Classifier}}</classifier>{{end}}</dependency>{{end}}
  </dependencies>
</project>
`))

// GoInstall builds a command of a Go module (package@version) into Dir/bin.
func (i *Install) GoInstall(ctx context.Context, pkg string) error {
	if err := need("go", "golang-go"); err != nil {
		return err
	}
	i.Log("building %s", pkg)
	bin := filepath.Join(i.Dir, "bin")
	return i.Exec(ctx, i.Dir, "env", "GOBIN="+bin, "GOFLAGS=-buildvcs=false", "go", "install", pkg)
}

// Exec runs a command of an installation in dir. Of the user's environment it sees what package managers need (handed). Its output
// is shown only where it fails, as the end of the error. It ends, with all it started, when ctx or the tool ends.
func (i *Install) Exec(ctx context.Context, dir, name string, args ...string) error {
	return i.exec(ctx, dir, nil, name, args...)
}

func (i *Install) exec(ctx context.Context, dir string, env []string, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return &ErrMissing{What: name}
	}
	out, err := os.CreateTemp("", "brokermark-install-")
	if err != nil {
		return err
	}
	defer out.Close()
	os.Remove(out.Name()) // already: a killed tool leaves no file either
	j := job{Path: path, Args: args, Env: append(installing(os.Environ()), env...), Dir: dir, UID: -1, GID: -1, Remove: i.Dir}
	p, err := launch(j, out, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	waitErr := p.wait(ctx)
	p.kill()
	p.dismiss()
	if waitErr != nil {
		return waitErr
	}
	if p.fate.Code != 0 {
		return fmt.Errorf("%s %s%s", name, p.fate, logged(tailOfFile(out, tailLines)))
	}
	return nil
}

// handed are the variables that an installation sees, or the beginnings of their names: where things are and how a
// registry is reached. Everything else (passwords of stores and clouds, say) is none of other people's code.
var handed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_", "TMPDIR", "TZ", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
	"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "M2_HOME", "MAVEN_", "APT_CONFIG",
	"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOPATH", "GOMODCACHE", "GOCACHE", "GOROOT", "GOTOOLCHAIN", "GOENV", "GOVCS",
}

// installing is the part of an environment that installations see.
func installing(environment []string) []string {
	return slices.DeleteFunc(environment, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.ContainsFunc(handed, func(h string) bool { return name == h || strings.HasSuffix(h, "_") && strings.HasPrefix(name, h) })
	})
}

func need(command string, apt ...string) error {
	n := Need{Command: command, Apt: apt}
	if n.met() {
		return nil
	}
	return n.missing(nil)
}
