/* Names of sets of characters in a split pattern, as Oniguruma has them, in PCRE2's words. Both follow
 * Unicode, of which the libraries may have different versions, so that characters that are new in one of them
 * may differ.
 *
 * White space is written out, because PCRE2's \s includes U+180E and Unicode's White_Space does not.
 * Oniguruma's words hold the superscripts and fractions of Latin-1, which no property tells from other
 * numbers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "engine/text/pretoken_parts.h"

#define SPACE                                                                                                \
    "\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define NOT_SPACE                                                                                            \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"                \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}"
#define VISIBLE "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}"

/* Names without spaces, hyphens, underscores and case. Those of \p{} and of [[:name:]] are the same sets but
 * for "punct", which is a category in the first. */
static const struct pretoken_set sets[] = {
    {"word", PRETOKEN_WORD, NULL, 0},
    {"\\w", PRETOKEN_WORD PRETOKEN_LATIN_WORD, NULL, 0},
    {"space", SPACE, NOT_SPACE, 0},
    {"digit", "\\p{Nd}", "\\P{Nd}", 0},
    {"xdigit", "0-9A-Fa-f", NULL, 0},
    {"alpha", "\\p{Alphabetic}", "\\P{Alphabetic}", 0},
    {"alnum", "\\p{Alphabetic}\\p{Nd}", NULL, 0},
    {"upper", "\\p{Uppercase}", "\\P{Uppercase}", 1},
    {"lower", "\\p{Lowercase}", "\\P{Lowercase}", 1},
    {"punct", "\\p{P}\\p{S}", NULL, 0},
    {"cntrl", "\\p{Cc}", "\\P{Cc}", 0},
    {"blank", "\\t\\p{Zs}", NULL, 0},
    {"graph", VISIBLE, NULL, 0},
    {"print", VISIBLE "\\p{Zs}", NULL, 0},
    {"ascii", "\\x{0}-\\x{7f}", "\\x{80}-\\x{10ffff}", 0},
};

const struct pretoken_set *pretoken_set(const char *name)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (!strcmp(sets[i].name, name))
            return &sets[i];
    return NULL;
}

/* What PCRE2 calls by another name, or would take for a script. */
static const char *const properties[][2] = {
    {"any", "Any"},
    {"letter", "L"},
    {"casedletter", "L&"},
    {"lc", "L&"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"punct", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"surrogate", "Cs"},
    {"privateuse", "Co"},
    {"unassigned", "Cn"},
    {"alphabetic", "Alphabetic"},
    {"uppercase", "Uppercase"},
    {"lowercase", "Lowercase"},
    {"ideographic", "Ideographic"},
    {"unifiedideograph", "Unified_Ideograph"},
    {"emoji", "Emoji"},
    {"emojipresentation", "Emoji_Presentation"},
    {"emojimodifier", "Emoji_Modifier"},
    {"emojimodifierbase", "Emoji_Modifier_Base"},
    {"emojicomponent", "Emoji_Component"},
    {"extendedpictographic", "Extended_Pictographic"},
    {"math", "Math"},
    {"cased", "Cased"},
    {"caseignorable", "Case_Ignorable"},
    {"idstart", "ID_Start"},
    {"idcontinue", "ID_Continue"},
    {"xidstart", "XID_Start"},
    {"xidcontinue", "XID_Continue"},
};

/* Only these categories have two letters; other short names are those of scripts. */
static int is_category(const char *name)
{
    static const char pairs[] =
        "lu ll lt lm lo mn mc me nd nl no pc pd ps pe pi pf po sm sc sk so zs zl zp cc cf cs co cn ";
    size_t n = strlen(name);
    if (n == 1)
        return strchr("lmnpszc", *name) != NULL;
    const char *at = n == 2 ? strstr(pairs, name) : NULL;
    return at && (at - pairs) % 3 == 0;
}

int pretoken_property(struct str *out, const char *name, int negated, int *is_case)
{
    const struct pretoken_set *s = strcmp(name, "punct") ? pretoken_set(name) : NULL;
    char word[48];
    if (!strcmp(name, "whitespace"))
        s = pretoken_set("space");
    *is_case = s && s->is_case;
    if (s && (!negated || s->inverse)) {
        str_puts(out, negated ? s->inverse : s->inner);
        return 1;
    }
    if (s)
        return 0;
    snprintf(word, sizeof word, "sc:%s", name);
    if (is_category(name)) {
        snprintf(word, sizeof word, "%s", name);
        word[0] = (char)toupper((unsigned char)word[0]);
    }
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        if (!strcmp(properties[i][0], name))
            snprintf(word, sizeof word, "%s", properties[i][1]);
    *is_case = !strcmp(word, "Lu") || !strcmp(word, "Ll") || !strcmp(word, "Lt") || !strcmp(word, "L&") ||
               !strcmp(word, "Uppercase") || !strcmp(word, "Lowercase");
    str_printf(out, "\\%c{%s}", negated ? 'P' : 'p', word);
    return 1;
}
