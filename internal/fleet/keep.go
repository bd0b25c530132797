package fleet

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// keptFor bounds how long a result that nobody fetched is kept, and how long a coordinator waits for an agent that was last heard
// when it had sent everything.
const keptFor = 30 * time.Second

// kept is the result of a trial as it lies on disk until the coordinator has stored the record: an agent that is started again
// under the same name goes on with it.
type kept struct {
	Info    Info // of the agent that made it
	Session string
	By      Info
	Answer  answer

	file *os.File // locked while its agent lives; a file that nobody holds is left over
	at   time.Time
}

// keep writes the result into dir, in place of the one of the same session.
func (k *kept) keep(dir string) (err error) {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, k.Session)
	f, err := privately(path + halfKept)
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

// halfKept marks a result that is being written.
const halfKept = ".half"

// privately makes a locked file that only its user may read, and its directory.
func privately(path string) (f *os.File, err error) {
	for range 3 { // an agent that ends removes the directory when it is empty
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
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

// release lets go of the result's file without removing it.
func (k *kept) release() {
	if k.file != nil {
		_ = k.file.Close()
	}
}

// remove deletes the result, and its directory where that is empty then.
func (k *kept) remove(dir string) {
	_ = os.Remove(filepath.Join(dir, k.Session))
	k.release()
	_ = os.Remove(dir) // refused while others keep something there
}

// leftover is the latest result in dir that an agent which ended had kept, and that me, the same agent started again, goes on with; nil:
// there is none. What is too old, whoever's it was, is removed.
func leftover(dir string, me Info) (latest *kept) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil
	}
	for _, path := range files {
		k := seize(path)
		switch {
		case k == nil: // its agent lives
		case k.Session == "" || time.Since(k.at) > keptFor:
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

// seize locks and reads a result; nil: somebody holds it. One that can't be read has no session.
func seize(path string) *kept {
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

// keep puts the answer to an order to run on disk. One that can't be kept there is still in memory.
func (s *session) keep(a *answer) {
	if s.joined.Dir == "" || a.Outcome == nil {
		return
	}
	k := &kept{Info: s.joined.info, Session: s.id, By: s.by, Answer: *a}
	if err := k.keep(s.joined.Dir); err != nil {
		s.joined.Say("the result of a trial is in memory only: %v", err)
		return
	}
	if s.kept != nil {
		s.kept.release()
	}
	s.kept = k
}

// stored removes what was kept: the coordinator has it in its records, or will never have.
func (s *session) stored() {
	if s.kept != nil {
		s.kept.remove(s.joined.Dir)
		s.kept = nil
	}
}

// unfetched tells that the last order was a trial, whose result the coordinator may not have.
func (s *session) unfetched() bool {
	return s.done == s.got && s.last != nil && s.last.Outcome != nil
}

// resume is the session that an agent of the same name was in when it ended.
func resume(a *joined, k *kept) (*session, error) {
	s := newSession(a, claim{Session: k.Session, By: k.By})
	s.kept, s.last, s.got, s.done, s.bare, s.heard = k, &k.Answer, k.Answer.N, k.Answer.N, true, k.at
	if err := s.listen(); err != nil {
		return nil, err
	}
	a.Say("has the result of the last trial for %s, which it finished before it was started again", k.By)
	return s, nil
}
