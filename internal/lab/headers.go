package lab

import (
	"fmt"
	"math/rand/v2"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// A payload that is made up has its message's identity and times in it. One from a file arrives as it is, with these in a header, unless
// the driver's messages have no headers.

// identityIn returns where the identity of a spec's messages is, as a record says it. why says, as a clause, why it isn't in a header.
func identityIn(s study.Spec, kind driver.Kind, c driver.Config) (in, why string) {
	if s.PayloadFile == "" {
		return "", ""
	}
	if why = kind.Headerless(c.Guarantee, c.Client); why != "" {
		return store.InBody, why
	}
	return store.InHeader, ""
}

// IdentityNote says in a sentence where the identity of a possible point's messages is; empty if its payloads are made up.
func IdentityNote(s study.Spec) string {
	kind, err := driver.Lookup(s.Broker)
	if err != nil {
		return ""
	}
	c, err := decoded(kind, s)
	if err != nil {
		return ""
	}
	switch in, why := identityIn(s, kind, c); in {
	case store.InHeader:
		return fmt.Sprintf("%s: payloads of the file arrive as they are; identity and times of a message are in a header.", s.Broker)
	case store.InBody:
		return fmt.Sprintf("%s: identity and times of a message replace the first bytes of its payload, up to 32, since %s.", s.Broker, why)
	}
	return ""
}

// noteIdentity notes in the record where the identity of messages is, and in the bench what their headers take.
func (b *bench) noteIdentity(kind driver.Kind, c driver.Config) {
	in, why := identityIn(b.spec, kind, c)
	b.record.Identity, b.headerBytes = in, headerBytes(b.spec, kind, c)
	if in == store.InBody {
		b.doubt(doubt.Stamped, "identity and times replaced the first bytes of each payload, up to 32, since %s", why)
	}
}

// headerBytes returns by how many bytes headers make a message of a spec larger.
func headerBytes(s study.Spec, kind driver.Kind, c driver.Config) int {
	in, _ := identityIn(s, kind, c)
	p := worker.Plan{Payload: worker.Payload{Untouched: in == store.InHeader}, Headers: ownHeaders(s, 0)}
	return p.HeaderSize()
}

func (b *bench) ownHeaders() []driver.Header { return ownHeaders(b.spec, b.record.Seed) }

// ownHeaders returns the headers that a spec asks for. Values that are made up are letters.
func ownHeaders(s study.Spec, seed int64) []driver.Header {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var list []driver.Header
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	for _, h := range s.Headers.List() {
		value := []byte(h.Value)
		for range h.Size {
			value = append(value, letters[rng.IntN(len(letters))])
		}
		list = append(list, driver.Header{Name: h.Name, Value: value})
	}
	return list
}
