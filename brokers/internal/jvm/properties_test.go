package jvm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestAPropertyWritesNoOtherWhateverItHolds(t *testing.T) {
	for name, value := range map[string]string{
		"plain": "a=b:c#d!e", "breaks": "1\nlisteners=PLAINTEXT://:9092", "carriage": "1\rx=y", "continued": `ends with \`,
		"a=b": "x", "a b": "x", "a\nb": "x", "#note": "x", "spaces": "  two before", "far": "é 😀", "form": "a\fb=c", "nel": "a\u0085b\u2028c",
	} {
		text := Properties(map[string]string{name: value, "last": "kept"})
		if n := strings.Count(text, "\n"); n != 2 || strings.ContainsAny(text, "\r\f\u0085\u2028") {
			t.Errorf("%q: %q becomes %q", name, value, text)
		}
		if !strings.Contains(text, "last=kept\n") {
			t.Errorf("%q swallows the next line: %q", value, text)
		}
	}
	if got, want := Properties(map[string]string{"a": `C:\x`, "b": " y=z"}), "a=C:\\\\x\nb=\\ y=z\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Java itself reads back what was written.
func TestJavaReadsThePropertiesThatWereWritten(t *testing.T) {
	java, err := exec.LookPath("java")
	if err != nil {
		testkit.Lacks(t, "no java here")
	}
	dir := t.TempDir()
	program := `import java.io.*; import java.util.*;
public class Read { public static void main(String[] a) throws Exception {
	Properties p = new Properties(); p.load(new FileInputStream(a[0]));
	System.out.print(p.size() + "|" + p.getProperty("k=e y") + "|" + p.getProperty("other"));
}}`
	source, file := filepath.Join(dir, "Read.java"), filepath.Join(dir, "x.properties")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(Properties(map[string]string{"k=e y": "  a\\\nb=c", "other": "é"})), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), java, "-Dstdout.encoding=UTF-8", "-Dfile.encoding=UTF-8", source, file).CombinedOutput()
	if strings.Contains(string(out), "jdk.compiler") || strings.Contains(string(out), "ClassNotFound") {
		testkit.Lacks(t, "this java has no compiler")
	}
	if err != nil || string(out) != "2|  a\\\nb=c|é" {
		t.Errorf("java read %q: %v", out, err)
	}
}
