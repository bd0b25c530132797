package rabbitmq

import "github.com/brokermark/brokermark/internal/driver"

// dialects are client libraries whose settings are arguments of calls.
var dialects = []driver.Dialect{
	{Library: "Java", Words: 0, Comment: "//"},
	{Library: "Python (pika)", Words: 1, Comment: "#"},
	{Library: "Go (amqp091-go)", Words: 2, Comment: "//"},
}

var phrases = []driver.Phrase{
	{
		Setting: "heartbeat", Sides: driver.Connecting,
		Words: []string{"factory.setRequestedHeartbeat(%s);", "pika.ConnectionParameters(heartbeat=%s)", "amqp.Config{Heartbeat: %s * time.Second}"},
	},
	{
		Setting: "frame_max", Sides: driver.Connecting,
		Words: []string{"factory.setRequestedFrameMax(%s);", "pika.ConnectionParameters(frame_max=%s)", "amqp.Config{FrameSize: %s}"},
	},
	{
		Setting: "vhost", Sides: driver.Connecting,
		Words: []string{`factory.setVirtualHost("%s");`, `pika.ConnectionParameters(virtual_host="%s")`, `amqp.Config{Vhost: "%s"}`},
	},
	{
		Setting: "confirm.select", Sides: driver.Producing, Words: []string{"%s", "%s", "%s"},
		Values: map[string][]string{
			"true":  {"channel.confirmSelect();", "channel.confirm_delivery()", "channel.Confirm(false)"},
			"false": {driver.NoLine, driver.NoLine, driver.NoLine},
		},
	},
	{
		Setting: "delivery_mode", Sides: driver.Producing,
		Words: []string{"new AMQP.BasicProperties.Builder().deliveryMode(%s)", "pika.BasicProperties(delivery_mode=%s)", "amqp.Publishing{DeliveryMode: %s}"},
	},
	{
		Setting: "mandatory", Sides: driver.Producing,
		Words: []string{"boolean mandatory = %s; // of basicPublish", "%s", "mandatory := %s // of Publish"},
		Values: map[string][]string{
			"true":  {"true", "channel.basic_publish(exchange, routing_key, body, mandatory=True)", "true"},
			"false": {"false", "channel.basic_publish(exchange, routing_key, body, mandatory=False)", "false"},
		},
	},
	{
		Setting: "no-ack", Sides: driver.Consuming,
		Words: []string{"boolean autoAck = %s; // of basicConsume", "%s", "autoAck := %s // of Consume"},
		Values: map[string][]string{
			"true":  {"true", "channel.basic_consume(queue, on_message, auto_ack=True)", "true"},
			"false": {"false", "channel.basic_consume(queue, on_message, auto_ack=False)", "false"},
		},
	},
	{
		Setting: "prefetch", Sides: driver.Consuming,
		Words: []string{"channel.basicQos(%s);", "channel.basic_qos(prefetch_count=%s)", "channel.Qos(%s, 0, false)"},
	},
	{Setting: "channels", Sides: driver.Producing, Words: []string{"", "", ""}, Else: "the application opens as many on each connection"},
	{Setting: "ack.every", Sides: driver.Consuming, Words: []string{"", "", ""}, Else: "the application acknowledges so many at once (multiple)"},
	{Setting: "ack.delay", Sides: driver.Consuming, Words: []string{"", "", ""}, Else: "the application acknowledges what has waited so long"},
	{Setting: "write.buffer", Sides: driver.Producing, Words: []string{"", "", ""}, Else: "only this driver gathers writes"},
}

// elsewhere are client settings without a counterpart in other libraries: the use of the client by this driver, or settings that
// appear as no-ack.
var elsewhere = []string{"mode", "consumer.ack"}

// pasted implements driver.Kind.Pasted. It leaves out settings without effect.
func pasted(g driver.Guarantee, v driver.Values, _ int) []driver.Pasted {
	d := settled(driver.Config{Guarantee: g, Client: v, Topic: defaultTopic()})
	inForce := driver.InForce(settings, g, v)
	inForce["confirm.select"], inForce["delivery_mode"], inForce["no-ack"] = d.confirm, d.mode(), d.autoAck
	inForce["heartbeat"] = int(v.Duration("heartbeat").Seconds())
	for name, silent := range map[string]any{"channels": int64(1), "ack.every": int64(1)} {
		if inForce[name] == silent { // the default of all libraries
			delete(inForce, name)
		}
	}
	return driver.Paste(dialects, phrases, inForce)
}

// defaultTopic are the settings of a topic for a spec without any.
func defaultTopic() driver.Values {
	topic, _ := driver.Decode(settings, driver.TopicScope, nil)
	return topic
}
