/* The option parser: spellings, positions, and the sentence of each mistake. */
#include "evalcore/cli/cli.h"
#include "tests/check.h"

struct options {
    const char *out, *text;
    int limit, quick;
    double temperature, mass;
    struct cli_list set;
};
#define AT(member) offsetof(struct options, member)
static const struct cli_option table[] = {
    {"output-path", 'o', CLI_STRING, AT(out), "DIR", .help = "where"},
    {"limit", 'L', CLI_INT, AT(limit), "N", .help = "how many", .min = 1, .max = CLI_INT_MAX},
    {"quick", 'q', CLI_FLAG, AT(quick), NULL, .help = "fast"},
    {"temperature", 0, CLI_DOUBLE, AT(temperature), "T", .help = "heat"},
    {"mass", 0, CLI_DOUBLE, AT(mass), "P", .help = "share", .min = 0, .max = 1},
    {"text", 0, CLI_TEXT, AT(text), "T", .help = "any"},
    {"set", 0, CLI_LIST, AT(set), "A=B", .help = "override"},
    {0},
};

static struct options o;
static const char *args[2];
static int n_args, want_help;
static struct err e;

static int parse(int argc, const char **argv)
{
    static const struct options empty;
    static const struct err none;
    o = empty;
    e = none;
    return cli_parse(table, &o, argc, (char **)argv, args, 2, &n_args, &want_help, &e);
}
#define PARSE(...)                                                                                           \
    parse((int)(sizeof((const char *[]){"cmd", __VA_ARGS__}) / sizeof(char *)),                              \
          (const char *[]){"cmd", __VA_ARGS__})

static void good(void)
{
    CHECK_INT(PARSE("run.json", "-o", "out", "--limit", "3"), 0);
    CHECK_STR(o.out, "out");
    CHECK_INT(o.limit, 3);
    CHECK_INT(n_args, 1);
    CHECK_STR(args[0], "run.json");
    CHECK_INT(PARSE("--output_path=a=b", "-L7", "--quick"), 0);
    CHECK_STR(o.out, "a=b");
    CHECK_INT(o.limit, 7);
    CHECK_INT(o.quick, 1);
    CHECK_INT(PARSE("--output-path", "-", "-", "--", "-q"), 0);
    CHECK_STR(o.out, "-");
    CHECK_INT(o.quick, 0);
    CHECK_INT(n_args, 2);
    CHECK_STR(args[1], "-q");
    CHECK_INT(PARSE("--set", "a=1", "--set=b=2", "--temperature", "-0.5"), 0);
    CHECK_INT(o.set.n, 2);
    CHECK_STR(o.set.v[1], "b=2");
    CHECK_NEAR(o.temperature, -0.5, 0);
    CHECK_INT(PARSE("--text", "", "--mass", "1", "--limit", "2147483647"), 0);
    CHECK_STR(o.text, "");
    CHECK_NEAR(o.mass, 1, 0);
    CHECK_INT(o.limit, 2147483647);
    CHECK_INT(PARSE("-h"), 0);
    CHECK_INT(want_help, 1);
}

static void bad(void)
{
    CHECK_INT(PARSE("--lmit", "3"), ERR_USAGE);
    CHECK_STR(e.text, "unknown option --lmit: did you mean --limit?");
    CHECK_INT(PARSE("--output_pth=3"), ERR_USAGE);
    CHECK_STR(e.text, "unknown option --output_pth=3: did you mean --output-path?");
    CHECK_INT(PARSE("--zebra"), ERR_USAGE);
    CHECK_STR(e.text, "unknown option --zebra: --help lists them");
    CHECK_INT(PARSE("-x"), ERR_USAGE);
    CHECK_STR(e.text, "unknown option -x: --help lists them");
    CHECK_INT(PARSE("--limit", "3x"), ERR_USAGE);
    CHECK_STR(e.text, "--limit takes a whole number of at least 1, not \"3x\"");
    CHECK_INT(PARSE("--limit", "99999999999999999999"), ERR_USAGE);
    CHECK_INT(PARSE("--limit=", "3"), ERR_USAGE);
    CHECK_STR(e.text, "--limit is given an empty value");
    CHECK_INT(PARSE("--limit", "0"), ERR_USAGE);
    CHECK_STR(e.text, "--limit takes a whole number of at least 1, not \"0\"");
    CHECK_INT(PARSE("--mass", "7"), ERR_USAGE);
    CHECK_STR(e.text, "--mass takes a number from 0 to 1, not \"7\"");
    CHECK_INT(PARSE("-o", ""), ERR_USAGE); /* an unset shell variable put the lock into / */
    CHECK_STR(e.text, "--output-path is given an empty value");
    CHECK_INT(PARSE("--set", ""), ERR_USAGE);
    CHECK_INT(PARSE("a", ""), ERR_USAGE);
    CHECK_STR(e.text, "argument 2 is empty");
    CHECK_INT(PARSE("--limit"), ERR_USAGE);
    CHECK_STR(e.text, "--limit needs a value: --limit N");
    CHECK_INT(PARSE("--quick=1"), ERR_USAGE);
    CHECK_STR(e.text, "--quick takes no value");
    CHECK_INT(PARSE("--temperature", "nan"), ERR_USAGE);
    CHECK_INT(PARSE("a", "b", "c"), ERR_USAGE);
    CHECK_STR(e.text, "unexpected argument \"c\": see --help");
}

int main(void)
{
    good();
    bad();
    return check_done();
}
