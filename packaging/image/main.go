// Image makes a container image of an installed tree, as a file for docker load: nothing else is in it, or what a saved
// image holds that is named as its base.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// user runs the program, in a folder of its own. Where a folder of the host is mounted there, docker run --user names who owns that.
const (
	user = 65532
	home = "/work"
)

func main() {
	arch := flag.String("arch", "amd64", "architecture of the program")
	version := flag.String("version", "", "version, the image's tag")
	base := flag.String("base", "", "file of a saved image to build upon, such as a Debian; empty: none")
	out := flag.String("o", "", "file to write")
	flag.Parse()
	if err := write(*out, *base, *arch, *version, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func write(out, base, arch, version, tree string) error {
	image := empty.Image
	if base != "" {
		var err error
		if image, err = tarball.ImageFromPath(base, nil); err != nil {
			return err
		}
	}
	made, err := sourceDate()
	if err != nil {
		return err
	}
	content, err := layer(tree, base == "", made)
	if err != nil {
		return err
	}
	image, err = mutate.Append(image, mutate.Addendum{Layer: content, History: v1.History{Created: v1.Time{Time: made}, CreatedBy: "brokermark " + version}})
	if err != nil {
		return err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", arch, v1.Time{Time: made}
	file.Config.Entrypoint, file.Config.Cmd, file.Config.WorkingDir = []string{"/usr/bin/brokermark"}, []string{"--help"}, home
	file.Config.User, file.Config.Env = fmt.Sprintf("%d:%d", user, user), append(file.Config.Env, "HOME="+home)
	file.Config.Labels = map[string]string{
		"org.opencontainers.image.title": "brokermark", "org.opencontainers.image.version": version,
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/brokermark/brokermark",
	}
	if image, err = mutate.ConfigFile(image, file); err != nil {
		return err
	}
	tag, err := name.NewTag("brokermark:" + version)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(out, tag, image)
}

// layer holds the tree below /usr, and in an image without a base what a program expects of any system.
func layer(tree string, alone bool, made time.Time) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(h tar.Header, text []byte) error {
		h.ModTime, h.Size, h.Format = made, int64(len(text)), tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	}
	dirs := []tar.Header{{Name: home[1:] + "/", Mode: 0o755, Uid: user, Gid: user}, {Name: "usr/", Mode: 0o755}}
	if alone {
		dirs = append(dirs, tar.Header{Name: "tmp/", Mode: 0o1777}, tar.Header{Name: "etc/", Mode: 0o755})
	}
	for _, d := range dirs {
		d.Typeflag = tar.TypeDir
		if err := add(d, nil); err != nil {
			return nil, err
		}
	}
	if alone {
		users := "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n" +
			fmt.Sprintf("brokermark:x:%d:%d:brokermark:%s:/sbin/nologin\n", user, user, home)
		if err := add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, []byte(users)); err != nil {
			return nil, err
		}
	}
	files := os.DirFS(tree)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if d.IsDir() {
			return add(tar.Header{Typeflag: tar.TypeDir, Name: "usr/" + path + "/", Mode: 0o755}, nil)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return add(tar.Header{Typeflag: tar.TypeReg, Name: "usr/" + path, Mode: int64(info.Mode().Perm())}, text)
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
}

// sourceDate is the time of what was built, so that building it again gives the same file.
func sourceDate() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
