#ifndef EVALCORE_BASE_LOG_H
#define EVALCORE_BASE_LOG_H

/* Messages for the person at the terminal: each call writes one line to standard error, "kveval: text" or
 * "kveval: warning: text", from any thread. Texts longer than 2,000 bytes are cut. Standard output is
 * reserved for results. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_set_quiet(int quiet); /* 1: print errors only */

#endif
