#ifndef EVALCORE_FETCH_UNZIP_H
#define EVALCORE_FETCH_UNZIP_H

#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Reads ZIP archives in memory (PKWARE's APPNOTE 6.3: members stored or deflated, one disk, no encryption, no
 * ZIP64). Archives are untrusted: everything is checked against the size of the archive and a limit. */
struct zip {
    const char *path; /* for messages */
    const unsigned char *data;
    size_t size;
    size_t pos; /* of the next record in the central directory */
    int left;   /* records */
};
struct zip_member {
    char name[256];
    uint32_t crc, packed, size; /* bytes, as the directory says */
    size_t offset;              /* of its local header */
    int method;                 /* 0 stored, 8 deflated */
};

/* The bytes must outlive z. Nothing to release. */
int zip_open(struct zip *z, const char *path, const void *data, size_t size, struct err *e);
int zip_next(struct zip *z, struct zip_member *m,
             struct err *e); /* 1: a member; 0: the end; negative: an error */
/* Appends the member's bytes, at most max of them, and checks their CRC-32. */
int zip_read(struct str *out, const struct zip *z, const struct zip_member *m, size_t max, struct err *e);

#endif
