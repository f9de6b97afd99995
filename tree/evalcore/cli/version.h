#ifndef EVALCORE_CLI_VERSION_H
#define EVALCORE_CLI_VERSION_H

/* Set by the build from the project's version; recorded with every result. */
#ifndef KVEVAL_VERSION
#define KVEVAL_VERSION "0.1.0"
#endif

#endif
