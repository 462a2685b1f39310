// What Linux offers and Swift's Glibc module leaves out.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

// Behind _GNU_SOURCE in poll.h.
int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask);

// Behind _GNU_SOURCE in sys/socket.h.
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
