package pulsar

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/brokermark/brokermark/internal/driver"
)

// coordinator is the server's setting that makes it one of transactions.
const coordinator = "transactionCoordinatorEnabled"

// transactional names the setting that needs transactions; "": none does.
func transactional(g driver.Guarantee, v driver.Values, relays int) string {
	switch {
	case g.Delivery != driver.ExactlyOnce:
		return ""
	case v.Bool("transactions"):
		return "client.transactions: true"
	case relays > 0:
		return fmt.Sprintf("relays: %d", relays)
	}
	return ""
}

// transacting implements driver.Kind.Transacts.
func transacting(g driver.Guarantee, v driver.Values, relays int, settings map[string]any) map[string]any {
	if transactional(g, v, relays) == "" || settings[coordinator] != nil {
		return settings
	}
	all := map[string]any{coordinator: true}
	maps.Copy(all, settings)
	return all
}

// fitsTransactions refuses transactions where they would keep less than was asked for, and relays.
func fitsTransactions(c driver.Config, s driver.Shape) error {
	g := c.Guarantee
	asked := transactional(g, c.Client, s.Relays)
	given, set := c.Target.Server[coordinator]
	switch {
	case s.Relays > 0 && g.Delivery == driver.AtMostOnce:
		return driver.Unsupported(fmt.Sprintf("relays: %d", s.Relays), "at most once a relay that is killed would produce again what it had not acknowledged; ask for at-least-once or exactly-once")
	case s.Relays > 1 && subscriptionType(g, c.Client) == client.Exclusive:
		return driver.Unsupported("client.subscriptionType: Exclusive", "a subscription then has one relay; Failover has more that take over")
	case asked == "":
		return nil
	case set && fmt.Sprint(given) != "true":
		return driver.Unsupported(asked, "it needs the server setting %s: true, and the spec says %v", coordinator, given)
	case driver.UsesStock(c.Client):
		return driver.Unsupported(asked, "pulsar-client-go by itself has consumers get what was aborted (its issue 1498); use client.mode: tuned")
	case s.Relays > 0 && g.Ordering == driver.Ordered:
		return driver.Unsupported(asked, "what a killed relay had acknowledged in its open transaction comes again behind what the next one has produced meanwhile; ask for ordering: unordered, or for at-least-once")
	case g.Replicas > 1:
		return driver.Unsupported(asked, "with %d replicas the broker would keep fewer copies of what it committed than of the messages; allowed with replicas: 1", g.Replicas)
	}
	return nil
}

// coordinates refuses a broker that has no transactions.
func (s *session) coordinates(ctx context.Context) error {
	asked := transactional(s.config.Guarantee, s.config.Client, s.topology.Shape().Relays)
	if asked == "" {
		return nil
	}
	var config map[string]string
	if err := s.admin.do(ctx, http.MethodGet, "brokers/configuration/runtime", nil, &config); err != nil {
		return driver.Unsupported(asked, "it needs the server setting %s: true, and that could not be checked: %v", coordinator, err)
	}
	if config[coordinator] != "true" {
		return driver.Unsupported(asked, "it needs the server setting %s: true", coordinator)
	}
	return nil
}

// release closes a client that may have transactions. Its own Close leaves what speaks to the coordinators: it would connect again and
// again, and whoever waits for it would wait for ever.
func release(c client.Client) {
	coordinators := reflect.ValueOf(c).Elem().FieldByName("tcClient")
	if coordinators.IsNil() {
		c.Close()
		return
	}
	const handlerClosed = 1
	handlers := coordinators.Elem().FieldByName("handlers")
	var waiting sync.WaitGroup
	for i := range handlers.Len() {
		handler := handlers.Index(i).Elem()
		atomic.StoreInt32((*int32)(unsafe.Pointer(handler.FieldByName("state").FieldByName("v").UnsafeAddr())), handlerClosed)
		close(*(*chan any)(unsafe.Pointer(handler.FieldByName("closeCh").UnsafeAddr())))
		requests := *(*chan any)(unsafe.Pointer(handler.FieldByName("requestCh").UnsafeAddr()))
		waiting.Go(func() { refuse(requests) })
	}
	c.Close()
	waiting.Wait()
}

// refuse answers the requests that nobody will.
func refuse(requests <-chan any) {
	for {
		select {
		case request := <-requests:
			answer := reflect.ValueOf(request).Elem().FieldByName("errCh")
			select {
			case *(*chan error)(unsafe.Pointer(answer.UnsafeAddr())) <- errLost:
			case <-time.After(retryPause):
			}
		case <-time.After(releasePatience / 2):
			return
		}
	}
}
