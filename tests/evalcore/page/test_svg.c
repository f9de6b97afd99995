/* Figures: ticks and escaping by value, whole figures by the properties that a reader depends on:
 * well-formed, no NaN, all text inside the picture, legend entries apart from each other and below the axes.
 */
#include "tests/check.h"

#include "evalcore/page/svg.h"
#include "tests/evalcore/page/layout.h"

static struct svg_point make_point(double x, double y, double low, double high)
{
    return (struct svg_point){.x = x, .y = y, .low = low, .high = high};
}

static void check_ticks(double low, double high, int is_log, size_t most, const char *want)
{
    double t[32], step;
    struct str got = {0};
    size_t n = svg_ticks(low, high, is_log, most, t, &step);
    for (size_t i = 0; i < n; i++)
        str_printf(&got, "%s%g", i ? " " : "", t[i]);
    CHECK_STR(str_text(&got), want);
    str_release(&got);
}

static void test_ticks(void)
{
    check_ticks(0, 1, 0, 6, "0 0.2 0.4 0.6 0.8 1");
    check_ticks(0, 1, 0, 11, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
    check_ticks(0, 1400, 0, 8, "0 200 400 600 800 1000 1200 1400");
    check_ticks(0, 32768, 0, 8, "0 5000 10000 15000 20000 25000 30000");
    check_ticks(0, 9, 0, 5, "0 2 4 6 8");
    check_ticks(0, 9, 0, 4, "0 2.5 5 7.5");
    check_ticks(-3, 7, 0, 6, "-2 0 2 4 6");
    check_ticks(60, 600, 1, 8, "100 200 500");
    check_ticks(10, 1e6, 1, 8, "10 100 1000 10000 100000 1e+06");
    check_ticks(0.05, 1, 1, 8, "0.05 0.1 0.2 0.5 1");
    check_ticks(1, 1, 0, 6, "");
    check_ticks(0, 10, 1, 6, "");
    check_ticks(1e-9, 2e-9, 0, 3, "1e-09 1.5e-09 2e-09");
}

static void test_text(void)
{
    struct str s = {0};
    svg_escape(&s, "a<b> & \"c\" 'd'\x01\x7f\xff\n");
    CHECK_STR(str_text(&s), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\x7f\xEF\xBF\xBD\n");
    str_clear(&s);
    svg_number(&s, -0.001);
    svg_number(&s, 12.5);
    svg_number(&s, 100);
    svg_number(&s, -3.14159);
    CHECK_STR(str_text(&s), "012.5100-3.14");
    str_clear(&s);
    svg_text(&s, 1, 2, "start", "kv-m", 10, 60, "a label that is far too long");
    /* shortened, and whole where it is pointed at */
    CHECK(strstr(str_text(&s), ">a lab\xE2\x80\xA6 long<title>a label that is far too long</title></text>") !=
          NULL);
    CHECK(svg_text_width("a label", 10) > 30 && svg_text_width("a label", 10) < 50);
    CHECK(svg_text_width("\xE6\xBC\xA2\xE5\xAD\x97", 10) >= 20);
    str_release(&s);
}

static double axis_bottom(const char *svg)
{
    const char *at = strstr(svg, "<path class=\"kv-ax\" d=\"M");
    for (; at; at = strstr(at + 1, "<path class=\"kv-ax\" d=\"M")) {
        const char *v = strchr(at, 'V');
        if (v && v < strchr(at, '/'))
            return strtod(v + 1, NULL);
    }
    return NAN;
}

/* CIELAB of a linear RGB colour under D65. */
static void to_lab(const double rgb[3], double lab[3])
{
    static const double xyz[3][3] = {{0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047},
                                     {0.2126729, 0.7151522, 0.0721750},
                                     {0.0193339 / 1.08883, 0.1191920 / 1.08883, 0.9503041 / 1.08883}};
    double f[3];
    for (int i = 0; i < 3; i++) {
        double t = xyz[i][0] * rgb[0] + xyz[i][1] * rgb[1] + xyz[i][2] * rgb[2];
        f[i] = t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
    }
    lab[0] = 116 * f[1] - 16;
    lab[1] = 500 * (f[0] - f[1]);
    lab[2] = 200 * (f[1] - f[2]);
}

/* Full sight, and protanopia, deuteranopia and tritanopia as Machado, Oliveira and Fernandes 2009 simulate
 * them. */
static void seen_as(enum svg_colour c, int is_dark, int sight, double lab[3])
{
    static const double machado[4][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
        {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
        {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
    unsigned long hex = strtoul(svg_colour_text(c, is_dark) + 1, NULL, 16);
    double linear[3], seen[3];
    for (int i = 0; i < 3; i++) {
        double v = (double)(hex >> (16 - 8 * i) & 255) / 255;
        linear[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        double v = machado[sight][i][0] * linear[0] + machado[sight][i][1] * linear[1] +
                   machado[sight][i][2] * linear[2];
        seen[i] = v < 0 ? 0 : v > 1 ? 1 : v;
    }
    to_lab(seen, lab);
}

/* Two policies had the same violet. */
static void test_colours_are_told_apart(void)
{
    double nearest = INFINITY;
    for (int dark = 0; dark < 2; dark++)
        for (int sight = 0; sight < 4; sight++)
            for (int i = 0; i < SVG_TOLD_APART; i++)
                for (int k = 0; k < i; k++) {
                    double a[3], b[3];
                    seen_as((enum svg_colour)i, dark, sight, a);
                    seen_as((enum svg_colour)k, dark, sight, b);
                    nearest =
                        fmin(nearest, sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
                }
    CHECK(nearest >= 16);
}

static void test_chart(void)
{
    struct svg_point p[5] = {make_point(64, 0.2, 0.1, 0.35), make_point(128, 0.5, 0.4, 0.6),
                             make_point(256, 0.9, 0.8, 0.97), make_point(NAN, 0.5, 0, 1),
                             make_point(512, NAN, NAN, NAN)};
    struct svg_series s[21];
    char names[21][64];
    for (int i = 0; i < 21; i++) {
        snprintf(names[i], sizeof names[i], "policy %d%s", i, i % 3 ? " k_pages=16 l_pages=4" : "");
        s[i] = (struct svg_series){.name = names[i],
                                   .kind = i ? SVG_LINE : SVG_FLAT,
                                   .colour = (enum svg_colour)(i % SVG_COLOURS),
                                   .marker = (enum svg_marker)(i % SVG_MARKERS),
                                   .dash = (enum svg_dash)(i % 4),
                                   .points = p,
                                   .n = 5,
                                   .cut_x = NAN,
                                   .is_wide = i == 1};
    }
    s[0].points = &p[1];
    s[0].n = 1;
    for (size_t n = 1; n <= 21; n += 5) {
        struct svg_chart c = {.id = "c",
                              .title = "relay: accuracy against budget <&>",
                              .desc = "d",
                              .x = {"budget, tokens", NAN, NAN, 1, 0},
                              .y = {"accuracy", 0, 1, 0, 1},
                              .series = s,
                              .n_series = n};
        struct str out = {0}, again = {0};
        svg_chart(&out, &c);
        check_layout(str_text(&out), "chart");
        /* the legend stands below the axes */
        const char *entry = strstr(str_text(&out), ">policy 0<");
        CHECK(entry != NULL);
        if (entry) {
            while (strncmp(entry, "<text", 5))
                entry--;
            CHECK(find_attribute(entry, "y") > axis_bottom(str_text(&out)) + 40);
        }
        svg_chart(&again, &c);
        CHECK_STR(str_text(&again), str_text(&out));
        str_release(&out);
        str_release(&again);
    }
}

static void test_awkward_charts(void)
{
    /* no data, one point, huge and tiny values, a title and labels that are much too long */
    struct svg_point big[2] = {make_point(1e9, 3e7, 2e7, 4e7), make_point(2e12, 5e7, NAN, NAN)};
    struct svg_point tiny = make_point(3, 1e-7, NAN, NAN);
    struct svg_point steps[2] = {make_point(100, 0.5, NAN, NAN), make_point(900, 0.75, NAN, NAN)};
    const char *long_name =
        "a policy with a very long name and many options k_pages=16 l_pages=4 scope=kv_sum seed=1";
    struct svg_series s[4] = {
        {.name = long_name, .kind = SVG_LINE, .colour = SVG_RED, .points = big, .n = 2, .cut_x = NAN},
        {.name = "one", .kind = SVG_POINTS, .marker = SVG_DOWN, .points = &tiny, .n = 1, .cut_x = NAN},
        {.name = "cut", .kind = SVG_STEP, .points = steps, .n = 2, .cut_x = 1400},
        {.name = "empty", .kind = SVG_STEP, .marker = SVG_NONE, .points = steps, .n = 0, .cut_x = NAN}};
    for (int first = 0; first < 4; first++)
        for (int is_log = 0; is_log < 2; is_log++) {
            struct svg_chart c = {.id = "c",
                                  .title = long_name,
                                  .desc = "",
                                  .x = {long_name, NAN, NAN, is_log, 0},
                                  .y = {long_name, NAN, NAN, 0, 0},
                                  .series = s + first,
                                  .n_series = (size_t)(4 - first)};
            struct str out = {0};
            svg_chart(&out, &c);
            check_layout(str_text(&out), "awkward chart");
            CHECK((strstr(str_text(&out), "no data yet") != NULL) == (first == 3));
            str_release(&out);
        }
    /* a curve with completions cut off goes on to the cap and ends there */
    struct svg_chart c = {.id = "c",
                          .title = "t",
                          .desc = "",
                          .x = {"x", 0, 1400, 0, 0},
                          .y = {"y", 0, 1, 0, 1},
                          .series = &s[2],
                          .n_series = 1};
    struct str out = {0};
    svg_chart(&out, &c);
    CHECK(strstr(str_text(&out), "v12\"") != NULL);
    str_release(&out);
}

/* Marks once stood beside their measured x, so that bars did not hide each other. */
static void test_points_stay(void)
{
    struct svg_point same[3] = {make_point(0.5, 0.4, 0.2, 0.6), make_point(0.5, 0.4, 0.3, 0.5),
                                make_point(0.5, 0.4, NAN, NAN)};
    struct svg_series s[3];
    for (int i = 0; i < 3; i++)
        s[i] = (struct svg_series){.name = "a", .kind = SVG_POINTS, .points = &same[i], .n = 1, .cut_x = NAN};
    same[0].cell = "<cell>\"&";
    same[0].tip = "first line\n<b>second</b>";
    same[1].label = "labelled";
    struct svg_chart c = {.id = "c",
                          .title = "t",
                          .desc = "",
                          .x = {"x", 0, 1, 0, 0},
                          .y = {"y", 0, 1, 0, 0},
                          .series = s,
                          .n_series = 3};
    struct str out = {0};
    svg_chart(&out, &c);
    const char *text = str_text(&out);
    check_layout(text, "three points at one place");
    const char *first = strstr(text, "scale(2.10)"), *second = strstr(text, "scale(1.55)");
    CHECK(first && second && first < second); /* rings around the one in front */
    int at_x = 0;
    for (const char *p = text; (p = strstr(p, "translate(269 ")) != NULL; p++)
        at_x++;
    CHECK_INT(at_x, 3); /* the middle between 74 + 8 and 480 - 16 - 8 */
    CHECK(strstr(text, ">labelled<") != NULL);
    CHECK(strstr(text,
                 "<g class=\"mark\" data-cell=\"&lt;cell&gt;&quot;&amp;\" tabindex=\"0\"><title>first line\n"
                 "&lt;b&gt;second&lt;/b&gt;</title>") != NULL);
    str_release(&out);
}

/* One curve both ways, with a completion cut off before the others ended. */
static void test_steps(void)
{
    struct svg_point up[4] = {make_point(100, 0.25, NAN, NAN), make_point(150, 0.25, NAN, NAN),
                              make_point(200, 0.625, NAN, NAN), make_point(300, 1, NAN, NAN)};
    up[1].is_cut = 1;
    struct svg_point across[4];
    for (int i = 0; i < 4; i++) {
        across[i] = up[i];
        across[i].x = up[i].y;
        across[i].y = up[i].x;
    }
    struct svg_series s = {.name = "a", .kind = SVG_STEP, .points = up, .n = 4, .cut_x = NAN, .cell = "id"};
    struct svg_chart c = {.id = "c",
                          .title = "t",
                          .desc = "",
                          .x = {"x", 0, 400, 0, 0},
                          .y = {"y", 0, 1, 0, 1},
                          .series = &s,
                          .n_series = 1};
    struct str out = {0};
    svg_chart(&out, &c);
    check_layout(str_text(&out), "steps");
    CHECK(strstr(str_text(&out), "data-cell=\"id\"") && strstr(str_text(&out), "v8\"/>"));
    str_clear(&out);
    s.kind = SVG_QUANTILE;
    s.points = across;
    c.x = (struct svg_axis){"share", 0, 1, 0, 1};
    c.y = (struct svg_axis){"length", 0, 400, 0, 0};
    svg_chart(&out, &c);
    check_layout(str_text(&out), "quantiles");
    CHECK(strstr(str_text(&out), "h8\"/>") != NULL);
    s.cut_x = 350; /* some never ended */
    s.n = 3;
    str_clear(&out);
    svg_chart(&out, &c);
    check_layout(str_text(&out), "quantiles of which some are unknown");
    CHECK(strstr(str_text(&out), "h12\"/>") != NULL);
    str_release(&out);
}

static void test_heat(void)
{
    const char *x[] = {"2", "4", "8"}, *y[] = {"16", "128"};
    struct svg_square q[6] = {{.value = 0.1, .text = "10.0", .note = "n=30"},
                              {.value = 0.5, .text = "50.0", .note = "n=30", .is_marked = 1},
                              {.value = NAN},
                              {.value = 0.9, .text = "90.0", .note = "n=30", .is_marked = 1},
                              {.value = 1, .text = "100.0", .is_marked = 1},
                              {.value = 0, .text = "0.0", .note = "n=1"}};
    struct svg_heat h = {.id = "h",
                         .title = "K and L",
                         .desc = "d",
                         .x_label = "L",
                         .y_label = "K",
                         .x_names = x,
                         .y_names = y,
                         .n_x = 3,
                         .n_y = 2,
                         .squares = q,
                         .low = 0,
                         .high = 1,
                         .mark_label = "best"};
    struct str out = {0};
    svg_heat(&out, &h);
    check_layout(str_text(&out), "heat map");
    CHECK(strstr(str_text(&out), ">100.0<") && strstr(str_text(&out), "kv-none") &&
          strstr(str_text(&out), ">128<"));
    CHECK(strstr(str_text(&out), "#4a0e80") &&
          strstr(str_text(&out), "#f6f1fb")); /* both ends of the scale */
    str_release(&out);
    h.low = h.high = 0.5; /* all squares equal */
    h.mark_label = NULL;
    svg_heat(&out, &h);
    check_layout(str_text(&out), "flat heat map");
    CHECK(strstr(str_text(&out), ">all squares: 50 %<") != NULL); /* the legend said 50% ... 50% */
    str_clear(&out);
    h.low = 0.996;
    h.high = 0.999; /* the legend said 100% ... 100% */
    svg_heat(&out, &h);
    check_layout(str_text(&out), "narrow heat map");
    CHECK(strstr(str_text(&out), ">99.6 %<") &&
          strstr(str_text(&out), ">99.9 % and more<")); /* a square has 1 */
    str_release(&out);
}

/* Thirty layers side by side: their names were dots. Some have theirs, whole. */
static void test_wide_heat(void)
{
    enum { LAYERS = 30 };
    struct svg_square q[LAYERS];
    char text[LAYERS][4];
    const char *x[LAYERS], *y[] = {"head"};
    for (int i = 0; i < LAYERS; i++) {
        q[i] = (struct svg_square){.value = i / 30.0};
        snprintf(text[i], sizeof text[i], "%d", i);
        x[i] = text[i];
    }
    struct svg_heat h = {.id = "w",
                         .title = "layers",
                         .desc = "d",
                         .x_label = "layer",
                         .y_label = "",
                         .x_names = x,
                         .y_names = y,
                         .n_x = LAYERS,
                         .n_y = 1,
                         .squares = q,
                         .low = 0,
                         .high = 1};
    struct str out = {0};
    svg_heat(&out, &h);
    check_layout(str_text(&out), "wide heat map");
    CHECK(strstr(str_text(&out), ">0<") && strstr(str_text(&out), ">10<") && strstr(str_text(&out), ">20<"));
    CHECK(!strstr(str_text(&out), ">11<") && !strstr(str_text(&out), "\xE2\x80\xA6"));
    str_release(&out);
}

static void test_matrix(void)
{
    enum { ROWS = 3, COLUMNS = 500 };
    const char *names[ROWS] = {"full", "quest k_pages=8",
                               "a policy whose name is longer than the room for it, by far"};
    static signed char level[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        level[i] = (signed char)(i % 7 - 2);
    struct svg_matrix m = {.id = "m",
                           .title = "who solved what",
                           .desc = "d",
                           .names = names,
                           .n_rows = ROWS,
                           .n_columns = 30,
                           .level = level};
    struct str out = {0};
    svg_matrix(&out, &m);
    check_layout(str_text(&out), "matrix");
    CHECK(strstr(str_text(&out), "some samples") != NULL);
    str_clear(&out);
    m.n_columns = 5; /* the legend ran over the right edge */
    svg_matrix(&out, &m);
    check_layout(str_text(&out), "narrow matrix");
    str_clear(&out);
    m.n_columns = COLUMNS;
    svg_matrix(&out, &m);
    check_layout(str_text(&out), "wide matrix");
    str_release(&out);
}

static void test_bars(void)
{
    const char *names[3] = {"full", "a policy whose name is longer than the room for it, by far", ""};
    struct svg_bar_column columns[2] = {{"accuracy, %", 1}, {"mean tokens", NAN}};
    struct svg_bar bars[6] = {{.value = 1, .low = 0.6, .high = 1, .text = "100", .cell = "c", .tip = "t"},
                              {.value = 900, .low = NAN, .high = NAN, .text = "900"},
                              {.value = 0, .low = 0, .high = 0.4, .text = "0"},
                              {.value = NAN, .low = NAN, .high = NAN, .text = "none"},
                              {.value = 2, .low = -1, .high = 3, .text = "beyond the column"},
                              {.value = 0, .low = NAN, .high = NAN, .text = NULL}};
    struct svg_bars b = {.id = "b",
                         .title = "bars",
                         .desc = "d",
                         .names = names,
                         .n = 3,
                         .n_columns = 2,
                         .columns = columns,
                         .bars = bars};
    struct str out = {0};
    svg_bars(&out, &b);
    check_layout(str_text(&out), "bars");
    CHECK(!strstr(str_text(&out), ">none<"));
    str_clear(&out);
    b.n = 0;
    svg_bars(&out, &b);
    check_layout(str_text(&out), "no bars");
    str_release(&out);
}

static void test_stacks(void)
{
    const char *names[2] = {"full batch 64 at 16384",
                            "a name that is longer than the picture is wide, and then "
                            "some more of it, until it cannot be shown whole"};
    const char *texts[2] = {"8.79 ms", NULL};
    struct svg_stack_part parts[3] = {
        {"linear layers", SVG_GREY}, {"attention", SVG_GOLD}, {"other", SVG_PALE}};
    double value[6] = {1, 2, NAN, 0, -1, 0};
    struct svg_stacks s = {.id = "s",
                           .title = "stacks",
                           .desc = "d",
                           .names = names,
                           .texts = texts,
                           .n = 2,
                           .parts = parts,
                           .n_parts = 3,
                           .value = value};
    struct str out = {0};
    svg_stacks(&out, &s);
    check_layout(str_text(&out), "stacks");
    str_clear(&out);
    value[0] = value[1] = 0;
    svg_stacks(&out, &s);
    check_layout(str_text(&out), "stacks of nothing");
    str_release(&out);
}

/* Lines of one colour that looked alike: a policy's fifth setting was drawn as its first. */
static void test_dashes_differ(void)
{
    static const char *const name[SVG_DASHES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct svg_point p[SVG_DASHES];
    struct svg_series s[SVG_DASHES];
    for (int i = 0; i < SVG_DASHES; i++) {
        p[i] = make_point(1, i, NAN, NAN);
        s[i] = (struct svg_series){.name = name[i], .points = &p[i], .n = 1, .dash = (enum svg_dash)i};
    }
    struct str out = {0};
    svg_chart(&out, &(struct svg_chart){.id = "d",
                                        .title = "Dashes",
                                        .desc = "one line each",
                                        .x = {"x", NAN, NAN, 0, 0},
                                        .y = {"y", NAN, NAN, 0, 0},
                                        .series = s,
                                        .n_series = SVG_DASHES});
    const char *look[SVG_DASHES], *at = str_text(&out);
    int n = 0;
    for (const char *end; (end = strstr(at, "h36\"/>")); at = end + 1) {
        const char *from = strstr(at, "kv-l kv-s0\"");
        CHECK(n < SVG_DASHES && from && from < end);
        for (const char *next; (next = strstr(from + 1, "kv-l kv-s0\"")) && next < end;)
            from = next;
        look[n++] = from;
    }
    CHECK_INT(n, SVG_DASHES);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            CHECK(strncmp(look[i], look[k], (size_t)(strstr(look[k], " d=") - look[k]) + 3));
    str_release(&out);
}

int main(void)
{
    test_dashes_differ();
    test_bars();
    test_stacks();
    test_ticks();
    test_text();
    test_colours_are_told_apart();
    test_chart();
    test_awkward_charts();
    test_points_stay();
    test_steps();
    test_heat();
    test_wide_heat();
    test_matrix();
    return check_done();
}
