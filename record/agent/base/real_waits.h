/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_waits.h - libc functions that may block the calling thread, and functions that show whether they
 * would: the part of real.h's list that wrap_wait.c, wrap_syscall.c, wrap_lock.c and wrap_stdio.c wrap.
 */
#ifndef RECORD_AGENT_REAL_WAITS_H
#define RECORD_AGENT_REAL_WAITS_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* <bits/...2.h> declares these only with _FORTIFY_SOURCE. */
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t bytes, size_t room, int flags, __SOCKADDR_ARG address,
	socklen_t *address_bytes);
int __poll_chk(struct pollfd *set, nfds_t count, int timeout, size_t set_bytes);
size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *from);
ssize_t __getdelim(char **line, size_t *room, int end, FILE *from);
char *__fgets_chk(char *to, size_t room, int bytes, FILE *from);

#define REAL_WAITS(X)                 \
	X(__fgets_chk)                \
	X(__fread_chk)                \
	X(__getdelim)                 \
	X(__poll_chk)                 \
	X(__pread64_chk)              \
	X(__pread_chk)                \
	X(__read_chk)                 \
	X(__recv_chk)                 \
	X(__recvfrom_chk)             \
	X(accept)                     \
	X(accept4)                    \
	X(clock_nanosleep)            \
	X(cnd_broadcast)              \
	X(cnd_signal)                 \
	X(cnd_timedwait)              \
	X(cnd_wait)                   \
	X(connect)                    \
	X(epoll_wait)                 \
	X(eventfd)                    \
	X(eventfd_read)               \
	X(eventfd_write)              \
	X(fdatasync)                  \
	X(fflush)                     \
	X(fgets)                      \
	X(flock)                      \
	X(fread)                      \
	X(fsync)                      \
	X(fwrite)                     \
	X(getdelim)                   \
	X(getline)                    \
	X(kill)                       \
	X(mtx_lock)                   \
	X(mtx_timedlock)              \
	X(mtx_trylock)                \
	X(nanosleep)                  \
	X(pause)                      \
	X(poll)                       \
	X(pread)                      \
	X(pread64)                    \
	X(preadv)                     \
	X(pthread_barrier_wait)       \
	X(pthread_clockjoin_np)       \
	X(pthread_cond_broadcast)     \
	X(pthread_cond_clockwait)     \
	X(pthread_cond_signal)        \
	X(pthread_cond_timedwait)     \
	X(pthread_cond_wait)          \
	X(pthread_getcpuclockid)      \
	X(pthread_join)               \
	X(pthread_mutex_clocklock)    \
	X(pthread_mutex_lock)         \
	X(pthread_mutex_timedlock)    \
	X(pthread_mutex_trylock)      \
	X(pthread_rwlock_clockrdlock) \
	X(pthread_rwlock_clockwrlock) \
	X(pthread_rwlock_rdlock)      \
	X(pthread_rwlock_timedrdlock) \
	X(pthread_rwlock_timedwrlock) \
	X(pthread_rwlock_tryrdlock)   \
	X(pthread_rwlock_trywrlock)   \
	X(pthread_rwlock_unlock)      \
	X(pthread_rwlock_wrlock)      \
	X(pthread_spin_lock)          \
	X(pthread_spin_trylock)       \
	X(pthread_testcancel)         \
	X(pthread_timedjoin_np)       \
	X(pwrite)                     \
	X(pwrite64)                   \
	X(pwritev)                    \
	X(read)                       \
	X(readv)                      \
	X(recv)                       \
	X(recvfrom)                   \
	X(recvmmsg)                   \
	X(recvmsg)                    \
	X(sched_yield)                \
	X(select)                     \
	X(sem_clockwait)              \
	X(sem_post)                   \
	X(sem_timedwait)              \
	X(sem_trywait)                \
	X(sem_wait)                   \
	X(send)                       \
	X(sendmsg)                    \
	X(sendto)                     \
	X(sleep)                      \
	X(socketpair)                 \
	X(syscall)                    \
	X(thrd_join)                  \
	X(thrd_sleep)                 \
	X(usleep)                     \
	X(wait)                       \
	X(wait3)                      \
	X(wait4)                      \
	X(waitid)                     \
	X(waitpid)                    \
	X(write)                      \
	X(writev)

#endif
