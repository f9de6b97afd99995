#ifndef EVALCORE_STATUS_BOARD_H
#define EVALCORE_STATUS_BOARD_H

#include "evalcore/cli/command.h"
#include "evalcore/status/status.h"

/* A door of the room of figures (status.h): where those of a running sweep can be seen. On standard error,
 * as a line per device and a total that are redrawn on a terminal, or as single lines; in the run folder, for
 * `kveval status`; in a file for Prometheus. Each has its own pace, a few times a second at most. A file that
 * cannot be written is told once, and the sweep goes on.
 *
 *   board_init -> fill board.now -> board_begin -> while board_is_due: fill board.now, board_show ->
 * board_end
 */
enum board_display {
    BOARD_AUTO, /* redrawn on a terminal, else plain */
    BOARD_PLAIN,
    BOARD_JSON,
    BOARD_NONE
};
#define BOARD_DISPLAYS "auto, plain, json or none"
/* Returns the enum board_display of that name (NULL: auto), or ERR_USAGE for another name. */
int board_display(const char *name, struct err *e);

struct board {
    struct status now; /* the caller's to fill; status_add_up() is done here */
    enum board_display display;
    int live, columns, is_told; /* columns: is_told: no resize changes it */
    const char *run_dir, *metrics;
    double shown, filed; /* when each was last, by clock_seconds(); 0: never */
    double interval;     /* between plain lines; grows */
    int is_drawn;        /* lines are on the terminal */
    int file_failed, metrics_failed;
    char host[65];
};

/* Fills *b; it cannot fail, and nothing is shown or written yet. run_dir: where the status file goes,
 * metrics: the file for Prometheus; both may be NULL: none. Texts are borrowed until board_end(). */
void board_init(struct board *b, enum board_display display, const struct process_env *p, const char *run_dir,
                const char *metrics);
/* Writes the files for the first time. */
void board_begin(struct board *b);
/* Returns 1 when the display or a file is due, else 0: board.now need not be filled then. */
int board_is_due(const struct board *b);
/* Shows and writes what is due of board.now, and nothing else. */
void board_show(struct board *b);
/* Clears the terminal's lines; they come back with board_show(). */
void board_clear(struct board *b);
/* Everything is decoded, or nothing more will be: devices are at rest. Files get the new state, and `why`
 * (borrowed; "": none), at once. */
void board_state(struct board *b, enum status_state state, const char *why);
/* Clears the terminal's lines. Files stay as they are, and b owns nothing that must be freed. */
void board_end(struct board *b);

/* Appends the lines that are drawn on a terminal of that size, without control characters. */
void board_lines(struct str *out, const struct status *s, int columns, int rows);

#endif
