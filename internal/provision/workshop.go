package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Run runs a program of the installation to its end and returns its output. Other people wrote the program, so it runs as a user
// that owns nothing else, in a directory of its own that is removed afterwards, without the caller's environment.
func (i *Install) Run(ctx context.Context, c Command) (string, error) {
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return "", &ErrMissing{What: c.Path}
	}
	if err := openToAll(i.Dir); err != nil {
		return "", err
	}
	work, leave, err := i.workshop(nil)
	if err != nil {
		return "", err
	}
	defer leave()
	return i.execute(ctx, work.job(path, c.Args, c.Env))
}

// workshop is a directory for a third-party program: its home, and the only place that it may write to.
type workshop struct {
	dir  string
	user int // 0: our own
}

// workshop creates one with these files in it. It changes the owner last, since the new owner may put links into it.
func (i *Install) workshop(files map[string][]byte) (w workshop, leave func(), err error) {
	if w.user, err = installer(); err != nil {
		return w, nil, err
	}
	w.dir, err = os.MkdirTemp(i.Dir, ".work-") // in Dir, so that it is removed with the leftovers of a killed tool
	if err != nil {
		return w, nil, err
	}
	leave = func() { os.RemoveAll(w.dir) }
	for name, text := range files {
		path := filepath.Join(w.dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), privateDir), os.WriteFile(path, text, privateFile))
	}
	if err == nil && w.user != 0 {
		err = filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || path == w.dir {
				return err
			}
			return os.Lchown(path, w.user, w.user)
		})
		err = errors.Join(err, os.Lchown(w.dir, w.user, w.user))
	}
	if err != nil {
		leave()
		return w, nil, err
	}
	return w, leave, nil
}

// job returns the job that runs a program in the workshop.
func (w workshop) job(path string, args, env []string) job {
	return job{Path: path, Args: args, Env: cleanEnvironment(w.dir, env), Dir: w.dir, User: w.user}
}

// own runs one of the machine's programs (a package manager, tar, a compiler) as our user, since its files must not belong to the
// user for third-party programs.
func (i *Install) own(ctx context.Context, dir string, env []string, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return &ErrMissing{What: name}
	}
	home, _ := os.UserHomeDir()
	_, err = i.execute(ctx, job{Path: path, Args: args, Env: cleanEnvironment(home, env), Dir: dir})
	return err
}

// execute runs j to its end and returns its output, the end of which is also part of an error. The process and its children are
// killed when ctx or the tool ends.
func (i *Install) execute(ctx context.Context, j job) (string, error) {
	out, err := os.CreateTemp("", "brokermark-install-")
	if err != nil {
		return "", err
	}
	defer out.Close()
	os.Remove(out.Name()) // now, so that a killed tool leaves no file either
	name := filepath.Base(j.Path)
	j.Remove = i.Dir
	text, end, err := runToEnd(ctx, j, out)
	switch {
	case ctx.Err() != nil && err != nil:
		return "", err
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case end.Code != 0:
		return text, fmt.Errorf("%s %s%s", name, end, logged(tail(text, tailLines)))
	}
	return text, nil
}

// The caller's variables that a package manager gets if they are set: those for reaching a registry, and those of its own
// program. Third-party programs get no others, such as passwords of stores and clouds.
var (
	network = []string{
		"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
	}
	mavens = []string{"JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "M2_HOME", "MAVEN_HOME", "MAVEN_ARGS"}
	apts   = []string{"APT_CONFIG"}
	gos    = []string{
		"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOPATH", "GOMODCACHE", "GOCACHE", "GOENV", "GOVCS",
		"XDG_CACHE_HOME", "XDG_CONFIG_HOME",
	}
	// environmentIn matches the variables that Maven's settings name.
	environmentIn = regexp.MustCompile(`\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}`)
)

// handed returns those of the caller's variables that the lists name.
func handed(lists ...[]string) (env []string) {
	for _, name := range slices.Concat(lists...) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// cleanEnvironment returns a minimal environment: a program must behave the same for every user, and learn no secret. Its
// temporary files are removed with its home. If own sets a variable twice, the last value holds.
func cleanEnvironment(home string, own []string) []string {
	env := map[string]string{"PATH": cmp.Or(os.Getenv("PATH"), usualPath), "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
	for _, kv := range own {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	var list []string
	for _, k := range slices.Sorted(maps.Keys(env)) {
		list = append(list, k+"="+env[k])
	}
	return list
}
