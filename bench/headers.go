package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// headers is the part that sets payloads that arrive untouched, with the messages' identity in a header, beside those that have it in them.
// It has no target: what the identity costs there is the client library's, such as nats.go's, which makes a map of each message's headers.
func headers(o provision.Options, sets ...string) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		return b.with(ctx, o, func(in *provision.Instance) error {
			file, err := os.CreateTemp("", "brokermark-payload-")
			if err != nil {
				return err
			}
			defer os.Remove(file.Name())
			_, err = file.Write(bytes.Repeat([]byte("x"), messageSize))
			if err = errors.Join(err, file.Close()); err != nil {
				return err
			}
			r := &peakRun{b: b, broker: o.Broker, address: in.Addresses()[0], messages: firstCount}
			through := func(more ...string) func(context.Context) (sample, error) {
				return func(ctx context.Context) (sample, error) {
					r.sets = append(more, sets...)
					s, err := r.through(ctx)
					if r.messages == firstCount && err == nil {
						r.messages = b.enough(s)
					}
					return s, err
				}
			}
			var list []contender
			for _, mode := range []string{driver.Tuned, driver.Stock} {
				body, header, own := "in the body, "+mode, "in a header, "+mode, "in the body and 5 headers of 20 B, "+mode
				list = append(list,
					contender{body, through("client.mode=" + mode)},
					contender{header, through("client.mode="+mode, "payloadFile="+file.Name())},
					contender{own, through("client.mode="+mode, "headers.count=5", "headers.size=20")})
			}
			return b.compare(ctx, section{
				Title: "Identity in headers, " + o.Broker + ", 100 B", oneMode: true,
				Settings: fmt.Sprintf("1 topic, 1 producer, 1 consumer, defaults and %v; a header's name has 10 characters, its value 43", sets),
			}, list, nil, nil)
		})
	}
}

// firstCount is how many messages the unrecorded run sends, which tells how many take the measured time.
const firstCount = 200_000
