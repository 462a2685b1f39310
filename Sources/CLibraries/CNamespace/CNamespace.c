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
#include <sys/mount.h>
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
  // Root of a user namespace alone may leave, but not come back: that is found out here, where one still is at home.
  if (setns(home, CLONE_NEWNET) != 0 || unshare(CLONE_NEWNET) != 0) {
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

/// The program's side; returns when the program cannot be executed, with the reason.
static int become(char *const arguments[], char *const environment[], pid_t supervisor) {
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) return ESRCH;
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  execvpe(arguments[0], arguments, environment);
  return errno;
}

static int mount_own_processes(void) {
  return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 && mount("proc", "/proc", "proc", 0, NULL) == 0;
}

static void tell(int report, int number) {
  if (write(report, &number, sizeof number) < 0) _exit(1);
}

static void notice(int number) { (void)number; }

/// Waits until the program has ended or nobody is left who would read of it, and sees to it that nothing stays behind.
static void supervise(pid_t program, int report, const char *folder) {
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGCHLD);
  struct pollfd caller = {.fd = report};
  do {
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != program) continue;
      tell(report, status);
      _exit(0);
    }
  } while (ppoll(&caller, 1, NULL, &others) <= 0);
  // Only as the first process of a process namespace is "everybody" those who are in it.
  kill(getpid() == 1 ? -1 : program, SIGKILL);
  while (wait(NULL) > 0 || errno == EINTR) continue;
  if (folder) execl("/bin/rm", "rm", "-rf", "--", folder, (char *)NULL);
  _exit(0);
}

/// The supervisor's side: nothing but what is safe after fork, and an exit without handlers.
static void start(
    int space, const char *folder, char *const arguments[], char *const environment[], const int streams[3],
    int report) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  signal(SIGCHLD, notice);
  int isReady = space < 0 || (setns(space, CLONE_NEWNET) == 0 && mount_own_processes());
  for (int number = 0; number < 3; number++) isReady = isReady && dup2(streams[number], number) >= 0;
  // Behind the standard ones, so that all others can be closed: held open here, they would not end with the caller.
  isReady = isReady && dup2(report, 3) >= 0 && syscall(SYS_close_range, 4, ~0U, 0) == 0;
  if (!isReady) {
    tell(report, errno);
    _exit(1);
  }
  pid_t supervisor = getpid();
  // Not vfork: under a thread sanitizer that takes locks, which another thread may have held when we were cloned.
  pid_t program = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL);
  if (program == 0) {
    // The supervisor goes on after this, and whoever asked hears the first word only.
    tell(3, become(arguments, environment, supervisor));
    _exit(127);
  }
  int problem = program < 0 ? errno : 0;
  tell(3, problem);
  if (problem != 0) _exit(1);
  int nowhere = open("/dev/null", O_RDWR);
  for (int number = 0; number < 3; number++) dup2(nowhere, number);
  supervise(program, 3, folder);
}

int callsim_namespace_spawn(
    int space, const char *folder, char *const arguments[], char *const environment[], const int streams[3],
    int *ending) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return fail();
  long flags = space < 0 ? SIGCHLD : SIGCHLD | CLONE_NEWPID | CLONE_NEWNS;
  pid_t supervisor = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
  if (supervisor == 0) start(space, folder, arguments, environment, streams, report[1]);
  int problem = supervisor < 0 ? errno : EIO;
  close(report[1]);
  while (supervisor > 0 && read(report[0], &problem, sizeof problem) < 0 && errno == EINTR) continue;
  if (problem == 0) {
    fcntl(report[0], F_SETFL, O_NONBLOCK);
    *ending = report[0];
    return supervisor;
  }
  close(report[0]);
  while (supervisor > 0 && waitpid(supervisor, NULL, 0) < 0 && errno == EINTR) continue;
  return -problem;
}

int callsim_end_with_parent(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct pollfd input = {.fd = 0};
  return poll(&input, 1, 0) <= 0 || !(input.revents & POLLHUP);
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
    int space, const char *folder, char *const arguments[], char *const environment[], const int streams[3],
    int *ending) {
  return -ENOSYS;
}
int callsim_end_with_parent(void) { return 1; }

#endif
