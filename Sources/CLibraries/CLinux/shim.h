// What Linux offers and Swift's Glibc module leaves out.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// Behind _GNU_SOURCE in unistd.h.
int pipe2(int ends[2], int flags);

// Behind _GNU_SOURCE in poll.h.
int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask);

// Behind _GNU_SOURCE in sys/socket.h.
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);

#include <stdint.h>
#include <sys/epoll.h>

// struct epoll_event is packed on some machines, so Swift is handed plain words instead.
static inline int epoll_change(int queue, int operation, int descriptor, uint32_t events, uint64_t tag) {
  struct epoll_event event = {.events = events, .data.u64 = tag};
  return epoll_ctl(queue, operation, descriptor, &event);
}

// Takes what is ready off an epoll queue without waiting: at most 64 at a time.
static inline int epoll_take(int queue, uint32_t *events, uint64_t *tags) {
  struct epoll_event ready[64];
  int count = epoll_wait(queue, ready, 64, 0);
  for (int index = 0; index < count; index++) {
    events[index] = ready[index].events;
    tags[index] = ready[index].data.u64;
  }
  return count;
}
