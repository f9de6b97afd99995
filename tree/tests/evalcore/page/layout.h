#ifndef TESTS_EVALCORE_PAGE_LAYOUT_H
#define TESTS_EVALCORE_PAGE_LAYOUT_H

/* What every figure has to be, as a reader sees it: well-formed, no NaN, all text inside the picture and none
 * upon another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/page/svg.h"
#include "tests/check.h"

/* Tags nest and close, attributes are quoted. Enough of XML for what is written here. */
static int well_formed(const char *p)
{
    char stack[32][24];
    int depth = 0;
    while ((p = strchr(p, '<')) != NULL) {
        const char *end = strchr(p, '>');
        if (!end)
            return 0;
        int quotes = 0;
        for (const char *q = p; q < end; q++)
            quotes += *q == '"';
        if (quotes % 2)
            return 0;
        if (p[1] == '/') {
            if (!depth || strncmp(stack[--depth], p + 2, (size_t)(end - p - 2)))
                return 0;
        } else if (end[-1] != '/') {
            size_t n = strcspn(p + 1, " >");
            if (depth == 32 || n >= sizeof stack[0])
                return 0;
            memcpy(stack[depth], p + 1, n);
            stack[depth++][n] = 0;
        }
        p = end;
    }
    return depth == 0;
}

static double find_attribute(const char *tag, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *at = strstr(tag, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

struct box {
    double left, right, top, bottom;
};

/* Boxes of all upright texts, by the same estimate that lays them out; returns their number. */
static int text_boxes(const char *svg, struct box *out, int max)
{
    int n = 0, turned = 0;
    for (const char *p = svg; (p = strchr(p, '<')) != NULL; p++) {
        if (!strncmp(p, "<g transform", 12) && strstr(p, "rotate") && strstr(p, "rotate") < strchr(p, '>'))
            turned = 1;
        if (!strncmp(p, "</g", 3))
            turned = 0;
        if (strncmp(p, "<text ", 6) || turned || n == max)
            continue;
        const char *from = strchr(p, '>') + 1;
        size_t len = (size_t)(strchr(from, '<') - from);
        char text[200];
        CHECK(len < sizeof text);
        memcpy(text, from, len);
        text[len] = 0;
        double size = find_attribute(p, "font-size"), w = svg_text_width(text, size),
               x = find_attribute(p, "x");
        double y = find_attribute(p, "y");
        const char *anchor = strstr(p, "text-anchor=\"") + 13;
        double left = *anchor == 's' ? x : *anchor == 'm' ? x - w / 2 : x - w;
        out[n++] = (struct box){left, left + w, y - 0.8 * size, y + 0.2 * size};
    }
    return n;
}

static void check_layout(const char *svg, const char *what)
{
    static struct box boxes[600];
    double width = 0, height = 0;
    const char *view = strstr(svg, "viewBox=\"0 0 ");
    CHECK(view != NULL);
    if (!view)
        return;
    char *next;
    width = strtod(view + 13, &next);
    height = strtod(next, NULL);
    CHECK(well_formed(svg));
    CHECK(!strstr(svg, "nan") && !strstr(svg, "inf"));
    CHECK(strstr(svg, "<title id=") && strstr(svg, "<desc id=") && strstr(svg, "role=\"group\""));
    int n = text_boxes(svg, boxes, 600), outside = 0, overlaps = 0;
    for (int i = 0; i < n; i++) {
        outside +=
            boxes[i].left < 0 || boxes[i].right > width || boxes[i].top < 0 || boxes[i].bottom > height;
        for (int k = 0; k < i; k++)
            overlaps += boxes[i].left < boxes[k].right - 0.5 && boxes[k].left < boxes[i].right - 0.5 &&
                        boxes[i].top < boxes[k].bottom - 0.5 && boxes[k].top < boxes[i].bottom - 0.5;
    }
    if (outside || overlaps)
        fprintf(stderr, "%s: %d texts outside the picture, %d overlaps\n", what, outside, overlaps);
    CHECK(n > 0 && !outside && !overlaps);
}

#endif
