#ifndef BASE_LOG_H
#define BASE_LOG_H

/* One line to standard error: "kveval: text" ("kveval: warning: text"). Standard output belongs to results.
 */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_set_quiet(int quiet); /* only errors */

#endif
