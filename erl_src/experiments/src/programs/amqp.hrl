%% The records of RabbitMQ's Erlang client that its load uses, field by field as the client has them
%% (amqp_client.hrl and rabbit_framing.hrl), since its headers are not there when this is compiled. A test compares them.
-record(amqp_params_network, {username = <<"guest">>, password = <<"guest">>, virtual_host = <<"/">>, host = "127.0.0.1", port,
                              channel_max = 2047, frame_max = 0, heartbeat = 0, connection_timeout = 60000, ssl_options = none,
                              auth_mechanisms, client_properties = [], socket_options = []}).
-record('P_basic', {content_type, content_encoding, headers, delivery_mode, priority, correlation_id, reply_to, expiration,
                    message_id, timestamp, type, user_id, app_id, cluster_id}).
-record(amqp_msg, {props = #'P_basic'{}, payload = <<>>}).
-record('queue.declare', {ticket = 0, queue = <<>>, passive = false, durable = false, exclusive = false, auto_delete = false,
                          nowait = false, arguments = []}).
-record('confirm.select', {nowait = false}).
-record('basic.qos', {prefetch_size = 0, prefetch_count = 0, global = false}).
-record('basic.consume', {ticket = 0, queue = <<>>, consumer_tag = <<>>, no_local = false, no_ack = false, exclusive = false,
                          nowait = false, arguments = []}).
-record('basic.consume_ok', {consumer_tag}).
-record('basic.publish', {ticket = 0, exchange = <<>>, routing_key = <<>>, mandatory = false, immediate = false}).
-record('basic.deliver', {consumer_tag, delivery_tag, redelivered = false, exchange, routing_key}).
-record('basic.get', {ticket = 0, queue = <<>>, no_ack = false}).
-record('basic.get_ok', {delivery_tag, redelivered = false, exchange, routing_key, message_count}).
-record('basic.ack', {delivery_tag = 0, multiple = false}).
