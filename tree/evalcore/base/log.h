#ifndef EVALCORE_BASE_LOG_H
#define EVALCORE_BASE_LOG_H

/* Messages for the person at the terminal: each call writes one line to standard error, "kveval: text" or
 * "kveval: warning: text", from any thread. Texts are cut to 1,999 bytes, and
 * what could steer a terminal is escaped (shown.h); a new line in one, too. Standard output is
 * reserved for results. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
enum log_quiet { LOG_ALL, LOG_ERRORS, LOG_WARNINGS }; /* LOG_WARNINGS: warnings and errors */
void log_set_quiet(int wanted); /* an enum log_quiet: which messages are printed; LOG_ALL at first */
/* What is written before each message, in the same write: clears what a live display has drawn. `lead` is
 * borrowed for good; "": nothing. */
void log_set_lead(const char *lead);

#endif
