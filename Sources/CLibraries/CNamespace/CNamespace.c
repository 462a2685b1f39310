#define _GNU_SOURCE
#include "CNamespace.h"

#include <errno.h>

#if defined(__linux__)

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char own_space[] = "/proc/thread-self/ns/net";

const int callsim_reset_on_fork = SCHED_RESET_ON_FORK;

static int fail(void) { return errno > 0 ? -errno : -EIO; }

/// Enters the namespace; returns a descriptor of the one that was left.
static int enter(int space) {
  int home = open(own_space, O_RDONLY | O_CLOEXEC);
  if (home < 0) return fail();
  if (setns(space, CLONE_NEWNET) == 0) return home;
  int result = fail();
  close(home);
  return result;
}

/// A thread that cannot go home would open its sockets in the wrong place from now on.
static void leave(int home) {
  if (setns(home, CLONE_NEWNET) != 0) abort();
  close(home);
}

int callsim_namespace_create(void) {
  int home = open(own_space, O_RDONLY | O_CLOEXEC);
  if (home < 0) return fail();
  if (unshare(CLONE_NEWNET) != 0) {
    int result = fail();
    close(home);
    return result;
  }
  int space = open(own_space, O_RDONLY | O_CLOEXEC);
  int result = space >= 0 ? space : fail();
  leave(home);
  return result;
}

int callsim_namespace_open_tunnel(int space, const char *name) {
  int home = enter(space);
  if (home < 0) return home;
  int tunnel = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  int result = tunnel >= 0 ? tunnel : fail();
  if (tunnel >= 0) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(tunnel, TUNSETIFF, &request) != 0) {
      result = fail();
      close(tunnel);
    }
  }
  leave(home);
  return result;
}

int callsim_namespace_write(int space, const char *path, const char *text) {
  int home = enter(space);
  if (home < 0) return home;
  int result = 0;
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text, strlen(text)) < 0) result = fail();
  if (file >= 0) close(file);
  leave(home);
  return result;
}

/// The child's side: nothing but what is safe after fork, and an exit without handlers.
static void become(
    int space, char *const arguments[], char *const environment[], int input, int output, int errors, pid_t parent,
    int report) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  if ((space < 0 || setns(space, CLONE_NEWNET) == 0) && dup2(input, 0) >= 0 && dup2(output, 1) >= 0 && dup2(errors, 2) >= 0) {
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    execvpe(arguments[0], arguments, environment);
  }
  int problem = errno;
  if (write(report, &problem, sizeof problem) < 0) _exit(126);
  _exit(127);
}

int callsim_namespace_spawn(
    int space, char *const arguments[], char *const environment[], int input, int output, int errors) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return fail();
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) become(space, arguments, environment, input, output, errors, parent, report[1]);
  int result = child > 0 ? child : fail();
  close(report[1]);
  int problem = 0;
  // The pipe ends silently when the program has been executed.
  while (child > 0) {
    ssize_t count = read(report[0], &problem, sizeof problem);
    if (count < 0 && errno == EINTR) continue;
    if (count == (ssize_t)sizeof problem) {
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
      result = problem > 0 ? -problem : -EIO;
    }
    break;
  }
  close(report[0]);
  return result;
}

int callsim_poll(struct pollfd *descriptors, int count, int64_t nanoseconds) {
  struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  return ppoll(descriptors, (nfds_t)count, &limit, NULL);
}

#else

const int callsim_reset_on_fork = 0;

int callsim_poll(struct pollfd *descriptors, int count, int64_t nanoseconds) {
  return poll(descriptors, (nfds_t)count, (int)((nanoseconds + 999999) / 1000000));
}

int callsim_namespace_create(void) { return -ENOSYS; }
int callsim_namespace_open_tunnel(int space, const char *name) { return -ENOSYS; }
int callsim_namespace_write(int space, const char *path, const char *text) { return -ENOSYS; }
int callsim_namespace_spawn(
    int space, char *const arguments[], char *const environment[], int input, int output, int errors) {
  return -ENOSYS;
}

#endif
