package mqtt

import (
	"context"
	"fmt"
	"strings"

	"github.com/eclipse/paho.golang/paho"

	"github.com/brokermark/brokermark/internal/driver"
)

// telling is a driver whose server publishes its version, see Product.Version.
type telling struct{ *driving }

// Describe implements driver.Describer.
func (d telling) Describe(ctx context.Context) (driver.Description, error) {
	said := driver.Description{Product: d.product.Name}
	answer := make(chan string, 1)
	asking := &driving{product: d.product, config: d.config} // of QoS 0
	l, err := asking.dial(ctx, station{clean: true, received: func(m *paho.Publish) {
		select {
		case answer <- string(m.Payload):
		default:
		}
	}})
	if err != nil {
		return said, err
	}
	defer l.close(true)
	if _, err := l.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: d.product.Version}}}); err != nil {
		return said, fmt.Errorf("subscribe to %s: %w", d.product.Version, err)
	}
	select {
	case text := <-answer: // "mosquitto version 2.0.21"
		said.Version = text[strings.LastIndexByte(text, ' ')+1:]
		return said, nil
	case <-ctx.Done():
		return said, fmt.Errorf("the server publishes nothing as %s: %w", d.product.Version, ctx.Err())
	}
}
