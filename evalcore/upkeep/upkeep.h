#ifndef EVALCORE_UPKEEP_UPKEEP_H
#define EVALCORE_UPKEEP_UPKEEP_H

#include "evalcore/cli/command.h"

/* The room of upkeep: looking after the journals of a run folder that is there. Nothing here decodes or
 * grades.
 *
 * kveval journal verify|compact. */
extern const struct command cmd_journal;

#endif
