#ifndef EVALCORE_PAGE_HTML_PAGE_H
#define EVALCORE_PAGE_HTML_PAGE_H

#include "evalcore/page/doc.h"

/* The parts that pages of a report are made of, for the files of this room. */

extern const char page_style[], page_script[]; /* page.css and page.js, put in by page_files.S */

/* From the doctype to <body>. Nothing may be fetched, and no script may run but page.js, by its hash,
 * whatever the page's text holds; has_script 0: no script at all. */
void html_begin(struct str *out, const char *title, int has_script);

/* number: of the tables of the page, from 1, for its id; label: what it is called where it has no caption. */
void html_table(struct str *out, const struct table *t, int number, const char *label);

#endif
