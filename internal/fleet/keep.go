package fleet

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/provision"
)

// keptFor bounds how long an agent keeps a result that was not fetched, and how long a coordinator waits for an agent that fell
// silent after it had sent everything.
const keptFor = 30 * time.Second

// kept is the result of a trial in a file, from the end of the trial until the coordinator has stored the record. An agent that is
// restarted under the same name takes it over.
type kept struct {
	Info    Info   // of the agent that made it
	Key     string // of its ID
	Session string
	By      Info
	Answer  answer

	file *os.File // locked while its agent lives; a file without a lock is left over
	at   time.Time
}

// keep writes the result into dir and replaces the one of the same session.
func (k *kept) keep(dir string) (err error) {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, k.Session)
	f, err := createLocked(path + halfKept)
	if err != nil {
		return err
	}
	if _, err = f.Write(text); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	k.file, k.at = f, time.Now()
	return nil
}

// halfKept is the suffix of a result that is being written.
const halfKept = ".half"

// createLocked creates a locked file that only its user may read, and its directory.
func createLocked(path string) (f *os.File, err error) {
	for range 3 { // an agent that ends removes the directory when it is empty
		if err = makePrivate(filepath.Dir(path)); err != nil {
			return nil, err
		}
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// makePrivate makes a directory that only its user may enter. The one above it is open if it has to be made as well: on an
// agent it is the work directory, below which brokers run as a user of their own.
func makePrivate(dir string) error {
	above := filepath.Dir(dir)
	_, absent := os.Stat(above)
	err := os.MkdirAll(above, 0o755)
	if err == nil && absent != nil {
		err = os.Chmod(above, 0o755) // whatever our umask is
	}
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return provision.Own(dir) // another user may have made it first, and put links there
}

// release closes and unlocks the file without removing it.
func (k *kept) release() { _ = k.file.Close() }

// remove deletes the file, and its directory if that is empty.
func (k *kept) remove(dir string) {
	_ = os.Remove(filepath.Join(dir, k.Session))
	k.release()
	_ = os.Remove(dir) // refused while others keep something there
}

// findLeftover returns the latest result in dir that an agent of the same name and build left behind, or nil. It removes results
// of any agent that are too old or can't be read.
func findLeftover(dir string, me Info) (latest *kept) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || provision.Own(dir) != nil {
		return nil
	}
	for _, path := range files {
		k := openLocked(path)
		switch {
		case k == nil: // its agent lives
		case !isSession.MatchString(k.Session) || k.Info.ID != idOf(k.Key) || time.Since(k.at) > keptFor:
			_ = os.Remove(path)
			k.release()
		case k.Info.Name != me.Name || k.Info.fits(me) != "" || latest != nil && latest.at.After(k.at):
			k.release()
		default:
			if latest != nil {
				latest.release()
			}
			latest = k
		}
	}
	_ = os.Remove(dir)
	return latest
}

// openLocked locks and reads a result. It returns nil if another agent holds it; a result that can't be read has no session.
func openLocked(path string) *kept {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = f.Close()
		return nil
	}
	var k kept
	if json.NewDecoder(f).Decode(&k) != nil || filepath.Base(path) != k.Session {
		k = kept{}
	}
	if info, err := f.Stat(); err == nil {
		k.at = info.ModTime()
	}
	k.file = f
	return &k
}

// keep writes the answer to a load to disk. If that fails, the answer is still in memory.
func (s *session) keep(a *answer) {
	if s.joined.Dir == "" || a.Outcome == nil {
		return
	}
	k := &kept{Info: s.joined.info, Key: s.joined.key, Session: s.id, By: s.by, Answer: *a}
	if err := k.keep(s.joined.Dir); err != nil {
		s.joined.Say("the result of a trial is in memory only: %v", err)
		return
	}
	if s.kept != nil {
		s.kept.release()
	}
	s.kept = k
}

// stored removes the kept result: the coordinator has stored it, or never will.
func (s *session) stored() {
	if s.kept != nil {
		s.kept.remove(s.joined.Dir)
		s.kept = nil
	}
}

// unfetched reports whether the last order was a load whose result the coordinator may not have.
func (s *session) unfetched() bool {
	return s.done == s.got && s.last != nil && s.last.Outcome != nil
}

// resume continues the session of a kept result.
func resume(a *joined, k *kept) (*session, error) {
	s := newSession(a, claim{Session: k.Session, By: k.By})
	s.kept, s.last, s.got, s.done, s.bare, s.heard = k, &k.Answer, k.Answer.N, k.Answer.N, true, k.at
	if err := s.listen(); err != nil {
		return nil, err
	}
	a.Say("has the result of the last trial for %s, which it finished before it was started again", k.By)
	return s, nil
}
