#ifndef EVALCORE_BASE_FILE_H
#define EVALCORE_BASE_FILE_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Files: reading and mapping whole files, walking lines, and writing a file so that no reader ever sees
 * half of it. Functions that take a struct err return 0, or the code of file_error_code() for the errno when
 * the system refuses (ERR_IO, or ERR_DISK for a disk at fault); what else they return is said with each.
 * Messages name the path and the cause. Contents may be any bytes, NULs included; paths are C strings. */

/* Opens path to read. A FIFO is read once somebody writes to it or has written; one that nobody opens for two
 * seconds is ERR_IO, not waited for without end. Returns the descriptor, or an error's code. */
int file_open_input(const char *path, struct err *e);

/* Appends the whole file to out, which then ends with a NUL even if the file is empty. After an error out may
 * hold the beginning. */
int file_read(const char *path, struct str *out, struct err *e);
/* The same, but ERR_FORMAT for what is longer than `most` bytes: /dev/zero has no end. */
int file_read_most(const char *path, size_t most, struct str *out, struct err *e);

/* Read-only map of a whole regular file; other kinds of files are ERR_IO. data is NULL when the file is
 * empty, and after an error. Release it with file_map_close(). */
struct file_map {
    const unsigned char *data;
    size_t size;
};
int file_map_open(struct file_map *m, const char *path, struct err *e);
void file_map_close(struct file_map *m);

/* ERR_DISK for errno values of a disk that is full or fails, of quotas and limits (of sizes, of open files)
 * that are reached and of a network file system that was interrupted, else ERR_IO. */
int file_error_code(int cause);

/* Returns 0 for a regular file, or for a path that cannot be looked at (it does not exist), else ERR_IO: what
 * is read again and again cannot be a FIFO, say. */
int file_plain(const char *path, struct err *e);

/* ---- Writing. No other place of the program opens files to write to. Nothing is written through a link, nor
 * into a file that has another name elsewhere, a FIFO or a device, and opening empties nothing. */

/* Opens path to read and write, and makes it when it is not there. flags: O_APPEND, or 0. Returns the
 * descriptor; or ERR_IO where a link, a folder, anything but a regular file or one with a second name stands
 * there, or where the system refuses. A FIFO is not waited for. Whoever takes a lock on it empties it
 * afterwards. */
int file_open_own(const char *path, int flags, struct err *e);
/* The same for a path that must be new: returns the descriptor, or -1 with errno, EEXIST for anything that
 * stands there. */
int file_open_new(const char *path, int flags);
/* Makes a new file beside path to be renamed to it, and writes its name, PATH.HOST.PID.RANDOM.tmp, to name.
 * Returns the descriptor or an error's code. */
int file_open_temporary(struct str *name, const char *path, struct err *e);
/* Writes all of the bytes, also after signals. Returns 0, or -1 with errno. */
int file_put(int fd, const void *data, size_t n);
/* Returns 1 when `name`, without its folder, is such a temporary file of a process of this host name that has
 * ended, as far as this process can see, else 0. Containers may share a host name and not their processes, so
 * look at the file's age too. */
int file_is_abandoned(const char *name);
/* Writes this machine's name to out, which holds n bytes, with "_" for "/"; "" where it has none. */
void file_host_name(char *out, size_t n);

/* Writes a temporary file beside path, fsyncs it, renames it over path and fsyncs the folder, so that
 * readers see either the old file or the new one, whole. A link, a second name or a FIFO at path is replaced
 * and what it leads to stays; ERR_IO for a folder, for a device and for links to devices. Several processes
 * may write the same path at once; the file of the last one stays. On an error the temporary file is removed,
 * and path is as it was unless only syncing the folder failed. */
int file_write_atomic(const char *path, const void *data, size_t n, struct err *e);
/* The same of n pieces, one behind the other. */
struct file_piece {
    const void *data;
    size_t size;
};
int file_write_pieces(const char *path, const struct file_piece *piece, size_t n, struct err *e);
/* The same without fsync, for what is written often and not worth keeping: a power cut may leave an empty
 * file. */
int file_replace(const char *path, const void *data, size_t n, struct err *e);

/* For paths that a person names on the command line, where /dev/stdout, /dev/null, a pipe or a FIFO is a
 * wish: these are written to, by way of a link too (ERR_IO for a FIFO that nobody reads). All else goes as
 * with file_open_own() and file_write_atomic(). */
int file_open_output(const char *path, int flags, struct err *e);
int file_write_output(const char *path, const void *data, size_t n, struct err *e);
/* Returns 0 when file_write_output() could write path, which need not exist, else ERR_USAGE: its folder is
 * missing or cannot be written, or path is a folder. Nothing is created. option: whose value it is,
 * "--metrics". Asked before long work whose result goes there. */
int file_check_target(const char *option, const char *path, struct err *e);

/* ---- Folders. */

/* Makes the folder and those above it; one that exists is fine. Folders that it made survive a power cut.
 * ERR_IO when a part of path is a file. */
int file_mkdirs(const char *path, struct err *e);
/* The same for a folder inside a run folder: ERR_IO also when path is a link. */
int file_mkdir_own(const char *path, struct err *e);
/* fsync() that goes on after a signal, as network file systems ask for. Returns 0, or -1 with
 * errno. */
int file_sync(int fd);
/* After this call, names that were created, changed or removed in the folder that holds path survive a
 * power cut. Returns 0 also where the file system cannot sync folders, or where the folder may not be listed.
 */
int file_sync_folder_of(const char *path, struct err *e);
/* Removes a file, or a folder with all in it. Links are removed and not followed; a path that does not exist
 * is fine. The code of file_error_code() at the first that cannot be removed; what follows it stays. */
int file_remove_tree(const char *path, struct err *e);
/* Return 1 when path is anything that exists, or a folder, else 0. Links are followed. file_is_dir() leaves
 * errno as it was. */
int file_exists(const char *path);
int file_is_dir(const char *path);

/* Returns 0, or ERR_IO with a sentence when the folder, or one above it, may not be entered: nothing in it
 * looks as if it were there then. */
int file_check_entered(const char *dir, struct err *e);

/* Appends "dir/name" to out, or name alone when it is absolute or dir is empty. */
void file_join(struct str *out, const char *dir, const char *name);

/* Walks the lines of a file or stream; lines may have any length and hold any bytes. They are returned
 * without their "\n". A last line that has no "\n" counts as a line and sets `torn`. */
struct file_lines {
    void *stream; /* FILE * */
    char *path;
    struct str buf;
    long number; /* number of the line last returned, from 1 */
    int torn;    /* 1: the line last returned had no "\n" */
    int owned;
};
/* "-" reads standard input. The code of file_error_code() when path cannot be opened. */
int file_lines_open(struct file_lines *l, const char *path, struct err *e);
/* Returns 1 and the line, 0 at the end, or ERR_IO on a read error. The line ends with a NUL that n does not
 * count and is valid until the next call. */
int file_lines_next(struct file_lines *l, const char **line, size_t *n, struct err *e);
/* Closes the stream, unless it is standard input, and frees the rest; also after an error. */
void file_lines_close(struct file_lines *l);

/* The names in a folder that end in `suffix` ("": all), hidden ones and folders too, without "." and "..",
 * sorted by bytes. Release them with file_list_release(). The code of file_error_code() when the folder
 * cannot be opened; the list is empty then. */
struct file_list {
    char **name;
    size_t n;
};
int file_list(struct file_list *out, const char *dir, const char *suffix, struct err *e);
void file_list_release(struct file_list *l);

#endif
