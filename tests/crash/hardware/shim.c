/*
 * A disk and a clock that fail on demand, preloaded into the real daemon (LD_PRELOAD). `shim.rs` builds and drives it.
 *
 * Everything the daemon does to regular files of its data directory comes by here. Writes go to the real file at once, as
 * they go to the page cache, and are remembered until the file is synced; so are new, renamed and removed names until the
 * directory is synced. A sync only forgets what it made durable: the machine that runs the tests does not lose its power,
 * so its disk need not be waited for.
 *
 * At a power cut every unsynced change is taken back and then, by chance, made again, left out, or made in part, by
 * sectors of 512 bytes: a disk keeps what it likes and in any order, but never half a sector. Names are taken back from
 * the last one on, as file systems keep the order of those. Then the process is killed.
 *
 * The index of the write-ahead log (-shm) is memory that processes share: SQLite maps it and makes it anew from the log when
 * the first process opens the database. No write of it is counted or remembered; at a power cut it is filled with noise.
 * The lock of the data directory (fourfold.lock) holds nothing that matters and is passed by.
 *
 * Settings, all from the environment:
 *   FAULT_DIR     the data directory: absolute, without symbolic links
 *   FAULT         what happens: kill (the process alone dies), cut (the power), eio, full, slow; none without it
 *   FAULT_ON      which calls count: any, write, sync, database (any call on the database's main file), name (what makes,
 *                 renames or removes files or changes their size, and syncs of the directory)
 *   FAULT_AT      at which of them it happens, from 1; `full` and `slow` go on from there
 *   FAULT_SEED    decides what a cut leaves
 *   FAULT_MS      what a slow sync takes
 *   FAULT_UNTIL   a path: the disk is full until this file exists
 *   FAULT_CLOCK   a file of eight bytes: seconds that the wall clock is ahead, as a signed number; read at every look
 *   FAULT_BOOT    a file whose text stands for /proc/sys/kernel/random/boot_id: after a power cut the machine starts anew
 *   FAULT_REPORT  a file that gets a line when it happens
 *
 * The system calls that would get past the shim unseen end the process with a word why: see `unknown`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define THE_DIRECTORY "the directory"

enum { SECTOR = 512, DESCRIPTORS = 65536, FILES = 64, NAMES = 4096, PATHS = 1024 };

/* What happens, and at which calls. */
enum fault { NONE, KILL, CUT, EIO_ONCE, FULL, SLOW };
enum kind { WRITING, SYNCING, NAMING };

/* A change of a file that is not durable yet: `length` new bytes at `at`, or, without `bytes`, a new size `at`. */
struct change {
    off_t at;
    size_t length;
    char *bytes;
    /* What was there before, as far as the file reached. */
    char *old;
    size_t old_length;
    off_t old_size;
};

struct file {
    dev_t device;
    ino_t inode;
    /* Our own way to it. Never closed: that would drop all locks that the process has on the file. */
    int fd;
    bool is_index;
    char name[PATHS];
    struct change *changes;
    size_t count, room;
};

/* A change of the directory that is not durable yet. `kept` is another name of what it removed, empty if nothing. */
struct naming {
    enum { CREATED, REMOVED, RENAMED } what;
    char from[PATHS], to[PATHS], kept[PATHS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[FILES];
static int file_count;
/* What a descriptor is open for: 0 nothing of ours, -1 the data directory, otherwise the number of the file plus one. */
static short open_for[DESCRIPTORS];
static struct naming names[NAMES];
static int name_count, kept_count;

static enum fault fault;
static const char *counted = "any", *until, *report_path, *boot, *directory;
static size_t directory_length;
static unsigned long calls, strike_at, slow_ms;
static uint64_t chance;
static volatile int64_t *clock_ahead;
/* For the report. */
static unsigned long unsynced, whole, dropped, torn, unnamed;

/* The function that ours stands before. */
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void die(const char *why) {
    dprintf(2, "fault shim: %s\n", why);
    abort();
}

static char *setting(const char *name) {
    char *value = getenv(name);
    return value && *value ? value : NULL;
}

static unsigned long number(const char *name) {
    char *value = setting(name);
    return value ? strtoul(value, NULL, 10) : 0;
}

__attribute__((constructor)) static void start(void) {
    static const char *const words[] = {"none", "kill", "cut", "eio", "full", "slow"};
    directory = setting("FAULT_DIR");
    if (!directory) return;
    char *word = setting("FAULT");
    for (int each = 0; word && each <= SLOW; each++)
        if (strcmp(word, words[each]) == 0) fault = (enum fault)each;
    if (setting("FAULT_ON")) counted = setting("FAULT_ON");
    until = setting("FAULT_UNTIL");
    report_path = setting("FAULT_REPORT");
    boot = setting("FAULT_BOOT");
    strike_at = number("FAULT_AT");
    chance = number("FAULT_SEED");
    slow_ms = number("FAULT_MS");
    directory_length = strlen(directory);
    char *ahead = setting("FAULT_CLOCK");
    int fd = ahead ? open(ahead, O_RDONLY | O_CLOEXEC) : -1;
    if (ahead && fd < 0) die("FAULT_CLOCK cannot be opened");
    if (fd >= 0) clock_ahead = mmap(NULL, sizeof *clock_ahead, PROT_READ, MAP_SHARED, fd, 0);
}

/* splitmix64. */
static uint64_t drawn(void) {
    uint64_t mixed = (chance += 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

static void *claimed(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) die("no memory");
    return memory;
}

static void put_all(int fd, const void *bytes, size_t length, off_t at) {
    REAL(pwrite);
    if (length && real(fd, bytes, length, at) != (ssize_t)length) die("the real disk failed");
}

static void resize(int fd, off_t size) {
    REAL(ftruncate);
    if (real(fd, size) != 0) die("the real disk failed");
}

static off_t size_of(int fd) {
    struct stat stat;
    return fstat(fd, &stat) == 0 ? stat.st_size : 0;
}

/* --- Changes of files --- */

/* Notes a change before it is made. */
static void remember(struct file *file, const void *bytes, size_t length, off_t at) {
    if (file->count == file->room) {
        file->room = file->room ? 2 * file->room : 64;
        file->changes = realloc(file->changes, file->room * sizeof *file->changes);
        if (!file->changes) die("no memory");
    }
    struct change *change = &file->changes[file->count++];
    *change = (struct change){.at = at, .length = length, .old_size = size_of(file->fd)};
    off_t end = bytes ? at + (off_t)length : change->old_size;
    if (end > change->old_size) end = change->old_size;
    if (end > at) {
        change->old_length = (size_t)(end - at);
        change->old = claimed(change->old_length);
        if (pread(file->fd, change->old, change->old_length, at) != (ssize_t)change->old_length) die("unreadable");
    }
    if (bytes) change->bytes = memcpy(claimed(length), bytes, length);
}

/* All changes of the file are durable, or past. */
static void forget(struct file *file) {
    for (size_t each = 0; each < file->count; each++) {
        free(file->changes[each].bytes);
        free(file->changes[each].old);
    }
    file->count = 0;
}

static void make_in_part(struct file *file, const struct change *change) {
    off_t end = change->at + (off_t)change->length;
    for (off_t at = change->at, next; at < end; at = next) {
        next = at / SECTOR * SECTOR + SECTOR;
        if (next > end) next = end;
        if (drawn() % 2) put_all(file->fd, change->bytes + (at - change->at), (size_t)(next - at), at);
    }
}

/* What the disk has of the file's changes: any of them, in any part. */
static void settle(struct file *file) {
    static const unsigned keep_percent[] = {0, 25, 50, 75, 100};
    unsigned keep = keep_percent[drawn() % 5];
    for (size_t each = file->count; each-- > 0;) {
        struct change *change = &file->changes[each];
        resize(file->fd, change->old_size);
        put_all(file->fd, change->old, change->old_length, change->at);
    }
    for (size_t each = 0; each < file->count; each++) {
        struct change *change = &file->changes[each];
        unsynced++;
        if (drawn() % 100 < keep) {
            whole++;
            if (change->bytes) put_all(file->fd, change->bytes, change->length, change->at);
            else resize(file->fd, change->at);
        } else if (drawn() % 2 || !change->bytes) {
            dropped++;
        } else {
            torn++;
            make_in_part(file, change);
        }
    }
    forget(file);
}

/* --- Changes of the directory --- */

static struct naming *note(int what, const char *from, const char *to) {
    if (name_count == NAMES) die("too many names without a sync");
    struct naming *naming = &names[name_count++];
    naming->what = what;
    naming->kept[0] = 0;
    snprintf(naming->from, PATHS, "%s", from);
    snprintf(naming->to, PATHS, "%s", to ? to : "");
    return naming;
}

/* Keeps what is about to lose its name, beside the data directory. */
static void keep(struct naming *naming, const char *path) {
    snprintf(naming->kept, PATHS, "%s.kept-%d-%d", directory, (int)getpid(), kept_count++);
    if (link(path, naming->kept) != 0) naming->kept[0] = 0;
}

static void forget_names(void) {
    REAL(unlink);
    while (name_count > 0)
        if (names[--name_count].kept[0]) real(names[name_count].kept);
}

static void take_names_back(void) {
    REAL(rename);
    __typeof__(&unlink) real_unlink = (__typeof__(&unlink))dlsym(RTLD_NEXT, "unlink");
    uint64_t taken = drawn() % ((uint64_t)name_count + 1);
    for (unnamed = taken; taken > 0; taken--) {
        struct naming *naming = &names[--name_count];
        if (naming->what == CREATED) real_unlink(naming->from);
        if (naming->what == RENAMED) real(naming->to, naming->from);
        if (naming->kept[0]) real(naming->kept, naming->what == RENAMED ? naming->to : naming->from);
    }
    forget_names();
}

/* --- Faults --- */

static void report(const char *call, const char *name) {
    int fd = report_path ? open(report_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0) return;
    dprintf(fd, "call=%lu what=%s file=%s unsynced=%lu whole=%lu dropped=%lu torn=%lu unnamed=%lu\n", calls, call, name,
            unsynced, whole, dropped, torn, unnamed);
    close(fd);
}

static void killed(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void report_once(const char *call, const char *name) {
    static bool done;
    if (!done) report(call, name);
    done = true;
}

static void fill_with_noise(struct file *file) {
    char noise[SECTOR];
    off_t size = size_of(file->fd);
    for (off_t at = 0; at + SECTOR <= size; at += SECTOR) {
        for (int each = 0; each < SECTOR; each++) noise[each] = (char)drawn();
        put_all(file->fd, noise, SECTOR, at);
    }
}

/* Nobody else changes anything any more: the caller has the lock and does not come back. */
static void power_cut(const char *call, const char *name) {
    for (int each = 0; each < file_count; each++) {
        if (files[each].is_index) fill_with_noise(&files[each]);
        else settle(&files[each]);
    }
    take_names_back();
    report(call, name);
    killed();
}

/* Counts the call; whether the fault happens at it. */
static bool strikes(enum kind kind, const char *name) {
    if (fault == NONE || strike_at == 0) return false;
    if (strcmp(counted, "write") == 0 && kind != WRITING) return false;
    if (strcmp(counted, "sync") == 0 && kind != SYNCING) return false;
    if (strcmp(counted, "name") == 0 && kind != NAMING && strcmp(name, THE_DIRECTORY) != 0) return false;
    if (strcmp(counted, "database") == 0 && strcmp(name, "fourfold.db") != 0) return false;
    calls++;
    if (fault == FULL || fault == SLOW) return calls >= strike_at;
    return calls == strike_at;
}

/*
 * What the call fails with before it does anything, 0 if it does not. A process that dies alone dies here. Says so the first
 * time.
 */
static int failure(enum kind kind, bool struck, const char *call, const char *name) {
    int problem = 0;
    if (!struck) return 0;
    if (fault == EIO_ONCE && kind != NAMING) problem = EIO;
    if (fault == FULL && kind != SYNCING && !(until && access(until, F_OK) == 0)) problem = ENOSPC;
    if (fault == KILL || fault == SLOW || problem) report_once(call, name);
    if (fault == KILL) killed();
    return problem;
}

/* --- Descriptors --- */

static struct file *file_of(int fd) {
    short number = fd >= 0 && fd < DESCRIPTORS ? open_for[fd] : 0;
    return number > 0 ? &files[number - 1] : NULL;
}

static bool is_inside(const char *path) {
    return directory && strncmp(path, directory, directory_length) == 0 && path[directory_length] == '/';
}

/* The absolute path of something in the data directory; false if it is not there. */
static bool resolved(const char *path, char *into) {
    char parent[PATH_MAX], real_parent[PATH_MAX];
    if (!directory || snprintf(parent, sizeof parent, "%s", path) >= PATH_MAX) return false;
    char *slash = strrchr(parent, '/');
    const char *name = slash ? path + (slash - parent) + 1 : path;
    if (slash) *slash = 0;
    if (!realpath(slash ? (*parent ? parent : "/") : ".", real_parent)) return false;
    return snprintf(into, PATHS, "%s/%s", real_parent, name) < PATHS && is_inside(into);
}

static struct file *take_in(int fd, const char *path) {
    struct stat stat;
    if (fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode)) return NULL;
    const char *name = path + directory_length + 1;
    if (strcmp(name, "fourfold.lock") == 0) return NULL;
    for (int each = 0; each < file_count; each++)
        if (files[each].inode == stat.st_ino && files[each].device == stat.st_dev) return &files[each];
    if (file_count == FILES) die("too many files");
    REAL(open);
    struct file *file = &files[file_count++];
    file->device = stat.st_dev;
    file->inode = stat.st_ino;
    file->fd = real(path, O_RDWR | O_CLOEXEC);
    if (file->fd < 0) die("a file of the data directory cannot be opened again");
    size_t length = strlen(name);
    file->is_index = length > 4 && strcmp(name + length - 4, "-shm") == 0;
    snprintf(file->name, sizeof file->name, "%s", name);
    return file;
}

/* After a rename: the file is what it is called now. */
static void name_anew(const char *path) {
    struct stat stat;
    for (int each = 0; lstat(path, &stat) == 0 && each < file_count; each++)
        if (files[each].inode == stat.st_ino && files[each].device == stat.st_dev)
            snprintf(files[each].name, sizeof files[each].name, "%s", path + directory_length + 1);
}

static int opened(int where, const char *path, int flags, mode_t mode) {
    REAL(openat);
    char full[PATHS];
    if (!directory || (where != AT_FDCWD && path[0] != '/')) return real(where, path, flags, mode);
    if (boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) return real(where, boot, flags, mode);
    char real_path[PATH_MAX];
    if (!(flags & O_CREAT) && realpath(path, real_path) && strcmp(real_path, directory) == 0) {
        int fd = real(where, path, flags, mode);
        if (fd >= 0 && fd < DESCRIPTORS) open_for[fd] = -1;
        return fd;
    }
    if (!resolved(path, full)) return real(where, path, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat stat;
    bool is_new = (flags & O_CREAT) && lstat(full, &stat) != 0;
    bool is_index = strlen(full) > 4 && strcmp(full + strlen(full) - 4, "-shm") == 0;
    bool counts = is_new && !is_index && strcmp(full + directory_length, "/fourfold.lock") != 0;
    bool struck = counts && strikes(NAMING, full + directory_length + 1);
    int problem = failure(NAMING, struck, "create", full + directory_length + 1);
    int fd = problem ? -1 : real(where, path, flags & ~O_TRUNC, mode);
    if (!problem) problem = errno;
    if (fd >= 0 && fd < DESCRIPTORS) {
        struct file *file = take_in(fd, full);
        open_for[fd] = (short)(file ? file - files + 1 : 0);
        if (is_new && file && !file->is_index) note(CREATED, full, NULL);
    }
    if (struck && fault == CUT) power_cut("create", full + directory_length + 1);
    pthread_mutex_unlock(&lock);
    if (fd >= 0 && (flags & O_TRUNC) && ftruncate(fd, 0) != 0) {
        close(fd);
        return -1;
    }
    errno = problem;
    return fd;
}

int openat(int where, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(where, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return opened(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int where, const char *path, int flags, ...) __attribute__((alias("openat")));

int close(int fd) {
    REAL(close);
    if (fd >= 0 && fd < DESCRIPTORS) open_for[fd] = 0;
    return real(fd);
}

/* --- Writing --- */

static ssize_t written(struct file *file, int fd, const void *bytes, size_t length, off_t at, const char *call) {
    REAL(pwrite);
    pthread_mutex_lock(&lock);
    bool struck = !file->is_index && strikes(WRITING, file->name);
    /* The index is not counted, but a full disk has no room for it either. */
    bool is_full = file->is_index && fault == FULL && calls >= strike_at;
    int problem = failure(WRITING, struck || is_full, call, file->name);
    ssize_t result = -1;
    if (!problem) {
        if (!file->is_index) remember(file, bytes, length, at);
        result = real(fd, bytes, length, at);
        problem = errno;
        if (struck && fault == CUT) power_cut(call, file->name);
    }
    pthread_mutex_unlock(&lock);
    errno = problem;
    return result;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    REAL(pwrite);
    struct file *file = file_of(fd);
    return file ? written(file, fd, bytes, length, at, "pwrite") : real(fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) __attribute__((alias("pwrite")));

ssize_t write(int fd, const void *bytes, size_t length) {
    static __typeof__(&write) real;
    if (!real) real = (__typeof__(&write))dlsym(RTLD_NEXT, "write");
    struct file *file = file_of(fd);
    if (!file) return real(fd, bytes, length);
    off_t at = fcntl(fd, F_GETFL) & O_APPEND ? size_of(fd) : lseek(fd, 0, SEEK_CUR);
    ssize_t result = written(file, fd, bytes, length, at, "write");
    if (result > 0) lseek(fd, at + result, SEEK_SET);
    return result;
}

int ftruncate(int fd, off_t size) {
    REAL(ftruncate);
    struct file *file = file_of(fd);
    if (!file || file->is_index) return real(fd, size);
    pthread_mutex_lock(&lock);
    bool struck = strikes(NAMING, file->name);
    /* A file can be made shorter on a full disk, and longer too, as long as nothing is in there. */
    int problem = fault == FULL ? 0 : failure(NAMING, struck, "ftruncate", file->name);
    int result = -1;
    if (!problem) {
        remember(file, NULL, 0, size);
        result = real(fd, size);
        problem = errno;
        if (struck && fault == CUT) power_cut("ftruncate", file->name);
    }
    pthread_mutex_unlock(&lock);
    errno = problem;
    return result;
}

int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));

/* --- Syncing --- */

static int synced(struct file *file, const char *call) {
    const char *name = file ? file->name : THE_DIRECTORY;
    pthread_mutex_lock(&lock);
    bool struck = strikes(SYNCING, name);
    int problem = failure(SYNCING, struck, call, name);
    if (struck && fault == CUT) power_cut(call, name);
    /* What did not reach the disk may be gone from memory too, and the next sync knows nothing of it. */
    if (problem && file) settle(file);
    else if (file) forget(file);
    else if (!problem) forget_names();
    pthread_mutex_unlock(&lock);
    if (struck && fault == SLOW) usleep((useconds_t)(slow_ms * 1000));
    if (problem) errno = problem;
    return problem ? -1 : 0;
}

int fsync(int fd) {
    REAL(fsync);
    if (fd >= 0 && fd < DESCRIPTORS && open_for[fd] == -1) return synced(NULL, "fsync");
    struct file *file = file_of(fd);
    return file ? synced(file, "fsync") : real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    struct file *file = file_of(fd);
    return file ? synced(file, "fdatasync") : real(fd);
}

/* --- Names --- */

int rename(const char *from, const char *to) {
    REAL(rename);
    char full_from[PATHS], full_to[PATHS];
    bool leaves = resolved(from, full_from), comes = resolved(to, full_to);
    if (!leaves && !comes) return real(from, to);
    if (leaves != comes) die("a rename into or out of the data directory");
    const char *name = full_to + directory_length + 1;
    pthread_mutex_lock(&lock);
    bool struck = strikes(NAMING, name);
    int problem = failure(NAMING, struck, "rename", name);
    int result = -1;
    if (!problem) {
        keep(note(RENAMED, full_from, full_to), full_to);
        result = real(from, to);
        problem = errno;
        if (result == 0) name_anew(full_to);
        if (struck && fault == CUT) power_cut("rename", name);
    }
    pthread_mutex_unlock(&lock);
    errno = problem;
    return result;
}

int unlink(const char *path) {
    REAL(unlink);
    char full[PATHS];
    struct stat stat;
    if (!resolved(path, full) || lstat(full, &stat) != 0 || !S_ISREG(stat.st_mode)) return real(path);
    const char *name = full + directory_length + 1;
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, "-shm") == 0) return real(path);
    pthread_mutex_lock(&lock);
    bool struck = strikes(NAMING, name);
    /* A full disk can remove. */
    int problem = fault == FULL ? 0 : failure(NAMING, struck, "unlink", name);
    int result = -1;
    if (!problem) {
        keep(note(REMOVED, full, NULL), full);
        result = real(path);
        problem = errno;
        if (struck && fault == CUT) power_cut("unlink", name);
    }
    pthread_mutex_unlock(&lock);
    errno = problem;
    return result;
}

/* --- What would get past us --- */

static void unknown(int fd, const char *call) {
    if (!file_of(fd)) return;
    dprintf(2, "fault shim: %s on a file of the data directory is not known here: teach it\n", call);
    abort();
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    unknown(fd, "writev");
    return real(fd, parts, count);
}

int fallocate(int fd, int mode, off_t at, off_t length) {
    REAL(fallocate);
    unknown(fd, "fallocate");
    return real(fd, mode, at, length);
}

int dup(int fd) {
    REAL(dup);
    unknown(fd, "dup");
    return real(fd);
}

/* --- The wall clock. That which only goes forward is left alone. --- */

int clock_gettime(clockid_t clock, struct timespec *time) {
    static __typeof__(&clock_gettime) real;
    if (!real) real = (__typeof__(&clock_gettime))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock_ahead && result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        time->tv_sec += (time_t)*clock_ahead;
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    static __typeof__(&gettimeofday) real;
    if (!real) real = (__typeof__(&gettimeofday))dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(time, zone);
    if (clock_ahead && result == 0) time->tv_sec += (time_t)*clock_ahead;
    return result;
}
