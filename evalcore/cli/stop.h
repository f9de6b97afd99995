#ifndef EVALCORE_CLI_STOP_H
#define EVALCORE_CLI_STOP_H

#include <signal.h>

/* Stopping by signal without a handler and without a global. SIGTERM, SIGUSR1 and SIGINT are blocked before
 * any thread starts, so that all threads inherit it, and the program looks between steps whether one is
 * waiting. After the first one they have their default action again, so a second one ends the process at
 * once; what is in the journal stays. */
void stop_block(void);
void stop_signals(sigset_t *set); /* those three */
/* The signal that came since stop_block(), or 0. Once nonzero, a further signal kills. */
int stop_poll(void);

/* Exit code for a run that ended early by this signal. */
int stop_exit_code(int signal);

#endif
