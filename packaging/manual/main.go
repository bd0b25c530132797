// Manual writes the manual pages and the shell completions of every command below a directory, laid out as in /usr.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/brokermark/brokermark/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	root := cli.Command()
	root.InitDefaultHelpCmd()
	pages := filepath.Join(dir, "share/man/man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	explainExitCodes(root)
	header := &doc.GenManHeader{Title: "BROKERMARK", Section: "1", Source: "brokermark", Manual: "Brokermark"} // dated by SOURCE_DATE_EPOCH
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	return completions(root, dir)
}

// explainExitCodes has pages say what the help says after the flags.
func explainExitCodes(c *cobra.Command) {
	c.DisableAutoGenTag = true
	if table := c.Annotations["exit codes"]; table != "" {
		if c.Long == "" {
			c.Long = c.Short + "."
		}
		c.Long += "\n\nExit codes:\n\n```\n" + table + "```"
	}
	for _, sub := range c.Commands() {
		explainExitCodes(sub)
	}
}

func completions(root *cobra.Command, dir string) error {
	for file, generate := range map[string]func(path string) error{
		"share/bash-completion/completions/brokermark":    func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"share/zsh/vendor-completions/_brokermark":        root.GenZshCompletionFile,
		"share/fish/vendor_completions.d/brokermark.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := generate(path); err != nil {
			return err
		}
	}
	return nil
}
