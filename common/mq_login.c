// SPDX-License-Identifier: Apache-2.0
// Opening and closing a broker connection: address, password file, a socket of our own, login with the capabilities
// that make the broker talk (blocked notices, consumer cancels). Owner: the connection's thread.
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/conf.h"
#include "common/limits.h"
#include "common/mem.h"
#include "common/mq_conn.h"

#define FRAME_MAX_BYTES 131072
#define CLOSE_WAIT_MS   400
#define PORT_TEXT_BYTES 16

void mq_conn_set_user_timeout(const struct mq_conn *c, int64_t ms)
{
  unsigned value = (unsigned)ms;
  setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, sizeof value);
}

static struct timeval timeval_of(struct span s)
{
  return (struct timeval){.tv_sec = s.us / 1000000, .tv_usec = s.us % 1000000};
}

// Waits for a connect in progress; the bell is looked at only to learn of a stop.
static bool connected_in_time(struct mq_conn *c, int fd, struct mono_time until)
{
  while (!atomic_load(&c->stopping)) {
    int64_t ms = span_to_ms(mono_since(until, clk_mono()));
    if (ms <= 0) {
      mq_conn_fail(c, "connect: timed out");
      return false;
    }
    struct pollfd p[2] = {{.fd = fd, .events = POLLOUT}, {.fd = c->to_thread, .events = POLLIN}};
    int ready = poll(p, 2, (int)ms);
    if (ready > 0 && p[1].revents != 0) mq_bell_clear(c->to_thread);
    if (ready <= 0 || p[0].revents == 0) continue;
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0) return true;
    mq_conn_fail(c, "connect: %s", strerrordesc_np(error));
    return false;
  }
  mq_conn_fail(c, "stopping");
  return false;
}

void mq_conn_cork(const struct mq_conn *c, bool on)
{
  int value = on ? 1 : 0;
  (void)setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &value, sizeof value);  // a matter of speed only
}

static int connect_to(struct mq_conn *c, const struct addrinfo *address, struct mono_time until)
{
  int fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address->ai_protocol);
  if (fd < 0) {
    mq_conn_fail(c, "socket: %s", strerrordesc_np(errno));
    return -1;
  }
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  bool up = connect(fd, address->ai_addr, address->ai_addrlen) == 0;
  if (!up && errno == EINPROGRESS)
    up = connected_in_time(c, fd, until);
  else if (!up)
    mq_conn_fail(c, "connect: %s", strerrordesc_np(errno));
  if (up) return fd;
  close(fd);
  return -1;
}

static bool open_socket(struct mq_conn *c, amqp_socket_t *socket, const char *host, int port)
{
  char service[PORT_TEXT_BYTES];
  snprintf(service, sizeof service, "%d", port);
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  struct addrinfo *addresses = NULL;
  int error = getaddrinfo(host, service, &hints, &addresses);
  if (error != 0) {
    mq_conn_fail(c, "%s: %s", host, gai_strerror(error));
    return false;
  }
  if (atomic_load(&c->stopping)) {  // the name server may have taken long; a thread that was left behind ends here
    freeaddrinfo(addresses);
    mq_conn_fail(c, "stopping");
    return false;
  }
  struct mono_time until = mono_after(clk_mono(), c->connect_timeout);
  int fd = -1;
  for (struct addrinfo *a = addresses; a != NULL && fd < 0; a = a->ai_next) fd = connect_to(c, a, until);
  freeaddrinfo(addresses);
  if (fd < 0) return false;
  // Ours is a duplicate: the library closes its own descriptor when it pleases, and the loop must be able to shut it
  // down.
  int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    close(fd);
    mq_conn_fail(c, "dup: %s", strerrordesc_np(errno));
    return false;
  }
  c->failed = false;  // an address that answered makes up for those that did not
  c->reason[0] = '\0';
  pthread_mutex_lock(&c->lock);
  c->fd = own;
  pthread_mutex_unlock(&c->lock);
  amqp_tcp_socket_set_sockfd(socket, fd);
  mq_conn_set_user_timeout(c, 2 * span_to_ms(c->heartbeat));
  return true;
}

static bool ok(struct mq_conn *c, const char *what, amqp_rpc_reply_t reply)
{
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return true;
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
    const amqp_connection_close_t *close_method = reply.reply.decoded;
    mq_conn_fail(c, "%s: %u %.*s", what, close_method->reply_code, (int)close_method->reply_text.len,
                 (const char *)close_method->reply_text.bytes);
  } else if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
    mq_conn_fail(c, "%s: %s", what, amqp_error_string2(reply.library_error));
  } else {
    mq_conn_fail(c, "%s: unexpected answer", what);
  }
  return false;
}

static amqp_table_entry_t text_entry(const char *key, const char *value)
{
  amqp_table_entry_t entry = {.key = amqp_cstring_bytes(key)};
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_cstring_bytes(value);
  return entry;
}

static amqp_table_entry_t yes_entry(const char *key)
{
  amqp_table_entry_t entry = {.key = amqp_cstring_bytes(key)};
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = 1;
  return entry;
}

static bool log_in(struct mq_conn *c, const struct amqp_connection_info *to, const char *password)
{
  // Without these the broker never says that it is blocked, nor that a consumer is gone.
  amqp_table_entry_t capabilities[] = {yes_entry("connection.blocked"), yes_entry("consumer_cancel_notify"),
                                       yes_entry("basic.nack"), yes_entry("publisher_confirms"),
                                       yes_entry("authentication_failure_close")};
  amqp_table_entry_t properties[] = {text_entry("product", "largesse"),
                                     text_entry("version", LARGESSE_VERSION),
                                     text_entry("connection_name", c->name),
                                     {.key = amqp_cstring_bytes("capabilities")}};
  properties[3].value.kind = AMQP_FIELD_KIND_TABLE;
  properties[3].value.value.table =
      (amqp_table_t){.num_entries = (int)ARRAY_LEN(capabilities), .entries = capabilities};
  amqp_table_t table = {.num_entries = (int)ARRAY_LEN(properties), .entries = properties};
  struct timeval limit = timeval_of(c->connect_timeout);
  amqp_set_handshake_timeout(c->amqp, &limit);
  amqp_set_rpc_timeout(c->amqp, &limit);
  const char *vhost = to->vhost[0] != '\0' ? to->vhost : "/";  // an address that ends in "/" means the default one
  return ok(c, "login",
            amqp_login_with_properties(c->amqp, vhost, 0, FRAME_MAX_BYTES, (int)(c->heartbeat.us / 1000000), &table,
                                       AMQP_SASL_METHOD_PLAIN, to->user, password));
}

bool mq_conn_open(struct mq_conn *c)
{
  struct buf secret;
  buf_init(&secret, CONF_SECRET_BYTES_MAX);
  char *url = mem_strdup(c->url);  // amqp_parse_url writes into it
  struct amqp_connection_info to;
  amqp_default_connection_info(&to);
  bool up = false;
  enum result read;
  if (amqp_parse_url(url, &to) != AMQP_STATUS_OK || to.ssl) {
    mq_conn_fail(c, "broker.url: not an address of the form amqp://user:password@host:port/vhost");
  } else if (c->password_file[0] != '\0' && (read = conf_read_secret(c->password_file, &secret)) != RESULT_OK) {
    mq_conn_fail(c, "broker.password_file: %s", conf_secret_why(read));
  } else {
    c->amqp = amqp_new_connection();
    amqp_socket_t *socket = c->amqp != NULL ? amqp_tcp_socket_new(c->amqp) : NULL;
    if (socket == NULL)
      mq_conn_fail(c, "out of memory");
    else
      up = open_socket(c, socket, to.host, to.port) &&
           log_in(c, &to, c->password_file[0] != '\0' ? buf_text(&secret) : to.password);
  }
  mem_free(url);
  if (secret.data != NULL) explicit_bzero(secret.data, secret.len);
  buf_release(&secret);
  return up;
}

void mq_conn_close(struct mq_conn *c, bool politely)
{
  if (c->amqp == NULL) return;
  if (politely) {
    struct timeval limit = timeval_of(span_ms(CLOSE_WAIT_MS));
    amqp_set_rpc_timeout(c->amqp, &limit);
    amqp_connection_close(c->amqp, AMQP_REPLY_SUCCESS);
  }
  pthread_mutex_lock(&c->lock);
  if (c->fd >= 0) close(c->fd);
  c->fd = -1;
  pthread_mutex_unlock(&c->lock);
  amqp_destroy_connection(c->amqp);
  c->amqp = NULL;
}
