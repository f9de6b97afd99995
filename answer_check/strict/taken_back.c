/* Is an answer taken back by what the model writes behind it (contract: sentence.h)? A sentence does it that
 * owns to a mistake ("I made an error", "scratch that"), that begins with "wait" or "actually" and judges or
 * answers anew, that names the value and rejects it, or that stands next to the answer and calls it wrong.
 * Others only prepare it: a check that fails, "I forgot a case"; they count where a new answer follows. A
 * question takes nothing back, nor does what is said of others' mistakes; and a sentence that finds the
 * answer right after all restores it. */
#include "answer_check/strict/sentence.h"

#include <string.h>

static const char negative[] =
    "wrong|incorrect|not right|not correct|isn't right|isn't correct|wasn't right|can't be right|cannot be "
    "right|"
    "cannot be correct|can't be correct|mistake|mistaken|error|miscalculat*|misread|doesn't work|does not "
    "work|"
    "doesn't satisfy|does not satisfy|not the final answer|not the answer|not final|not yet the|not "
    "valid|invalid|impossible|错|不对|有误"
    "|falsch|nicht richtig|nicht korrekt|stimmt nicht|ist ein fehler|incorrecto|incorrecta"
    "|equivocado|equivocada|no es correcto|no es correcta|faux|fausse|incorrecte"
    "|pas correct|pas exact|pas juste|erreur|errado|errada|incorreto|incorreta"
    "|não está certo|sbagliato|sbagliata|errato|errata|scorretto|non è corretto|違う|違い|間違|誤り"
    "|틀렸|틀린|неверно|неправильно|ошибка";
/* What a check may find, beside those. */
static const char failing[] = "fails|fail|failed|contradict*|extraneous|violates|violated|not a solution|not "
                              "satisfied|doesn't hold|does not hold|doesn't match|does not match|mismatch|"
                              "inconsistent|not equal|off by|too large|too small|too big|不满足|矛盾|不成立";
static const char fixing[] =
    "wait|no wait|update|updated|edit|actually|hmm|hm|oops|ops|sorry|apologies|my apologies|i apologize|"
    "no,|no.|no:|no!|hold "
    "on|correction|corrected|revised|on second thought|"
    "on second thoughts|on reflection|but wait|but hold on|oh|ah|however wait|等等|不对|更正|修正|等一下"
    "|moment,|moment mal|moment.|einen moment|halt,|stopp|warte|nein,|espera|espere"
    "|un momento|perdón|attendez|attends|non,|un instant|pardon|peraí|aspetta|aspetti"
    "|un attimo|待って|잠깐|잠시만|подожди|стоп|Подожди|Стоп|不，|不,|抱歉";
static const char checking[] =
    "let me|let's|let us|on checking|on rechecking|on verification|on closer|upon|after checking|after "
    "rechecking|after double-checking|"
    "after verifying|after re-*|checking|check|verification|verify|verifying|rechecking|re-*|reconsider*|"
    "revisit*|reviewing|"
    "looking back|substituting|plugging|testing|however|but|检查|验证|重新";
static const char owning[] =
    "i meant|wait, no|no, wait|wait no|no wait|scratch that|strike that|take that back|my mistake|my bad|i "
    "was "
    "wrong|i was mistaken|i miscalculated|i "
    "miscounted|"
    "i misread|i misspoke|let me correct|i need to correct|i should correct|i must correct|correction:|"
    "solution above is incorrect|above solution is incorrect|above solution is wrong|above is "
    "incorrect|above "
    "is wrong|above answer is incorrect|above answer is wrong|"
    "answer above is wrong|answer was wrong|answer was incorrect|更正|我算错|我错了"
    "|ich habe mich verrechnet|ich habe mich geirrt|ich habe einen fehler|mein fehler"
    "|me equivoqué|cometí un error|he cometido un error|je me suis trompé"
    "|j'ai fait une erreur|mon erreur|eu errei|cometi um erro|mi sono sbagliato"
    "|ho sbagliato|ho commesso un errore|計算を間違え|計算ミス|я ошибся";
/* "I made .. a mistake" and the like: the writer before, the fault behind. */
static const char finding[] =
    "i made|we made|i've made|i have made|i found|i see|i notice*|i spotted|i realize*|"
    "i realise*|there is|there was|there's|for the";
static const char faults[] =
    "mistake|mistakes|error|errors|slip|miscalculation|typo|oversight|blunder|misread";
/* A step left out, which changes the value only where a new one follows. */
static const char slips[] =
    "i mis*|i dropped|i lost|i transposed|i reversed|i flipped|i wrote|asks for|asked for|the question "
    "asks|the problem asks|"
    "i forgot|we forgot|forgot to|i overlooked|i missed|i neglected|i omitted|i ignored|i skipped|i left out|"
    "i double counted|i "
    "double-counted|i overcounted|i undercounted|i misapplied|i misunderstood|i misinterpreted|i mixed up|i "
    "swapped|i confused|i assumed|i "
    "should have|i should've|i used the wrong|need to exclude|need to subtract|must exclude|have to exclude|"
    "漏了|忘了|忘记";
static const char subjects[] =
    "that|this|it|but that|but this|but it|however, this|however, that|however, "
    "it|the above|my answer|my previous|my earlier|the answer above|the "
    "previous|the boxed|that's|that is|"
    "the answer i|这个|这"
    "|das ist|dies ist|das war|diese antwort|eso es|esto es|esa respuesta|c'est|cela est"
    "|ceci est|isso é|isso está|isto está|questo è|これは|それは|이것은|это";
/* What asks to pass over what was said. */
static const char voiding[] =
    "disregard the|disregard my|disregard that|ignore my previous|ignore the above|ignore "
    "that|forget the above|forget what i";
/* A statement of which the words before it say that it did not last. */
static const char at_first[] =
    "first thought|at first|initially|originally|tempting|naively|naive|might think|might "
    "say|my first|my initial";
/* A statement that others are said to make. */
static const char mistaken[] =
    "common mistake|common error|common wrong|common incorrect|typical mistake|usual mistake|wrong answer|"
    "format should|box like|boxes like|formatted like|for comparison|last year's|in the book|students "
    "often|students write|people often|many students|typical error|if we forget|if one "
    "forgets|if you forget|forgetting|incorrect answer|mistaken answer|wrong value|might "
    "mistakenly|mistakenly|trap answer|trap is";
static const char others[] =
    "let me know|if i|if you|if there|common|often|many students|students|tempting|would give|"
    "might think|one might|would be wrong to|please|whether|in case|"
    "make sure|see if|generali*|in general|more generally|no error|no errors|no mistake|no mistakes|you made"
    "|häufiger fehler|error común|error frecuente|erreur courante|erreur fréquente"
    "|erro comum|errore comune|常见|wäre falsch|si hay|falls";
static const char anew[] =
    "should be|should read|should say|should have been|must be|answer is|answer:|it is|it's|correct "
    "answer|so it is|is actually|value is"
    "|richtige antwort|korrekte antwort|antwort ist|antwort lautet|respuesta correcta"
    "|respuesta es|bonne réponse|réponse correcte|réponse est|resposta correta"
    "|resposta certa|resposta é|risposta corretta|risposta esatta|risposta è|正确答案|答案是|答案应"
    "|应该是|应为|正しい答え|正解|정답|правильный ответ";
static const char restoring[] =
    "is right|is correct|was right|was correct|it's correct|it's right|that's right|that's correct|is fine|"
    "checks out|still holds|stands|confirmed|consistent|holds|no error|no mistake|not wrong|not a "
    "mistake|没错"
    "|das stimmt|ist richtig|ist korrekt|es correcto|es correcta|está bien|est correct"
    "|est juste|está correto|está certo|è corretto|正确的|没问题";

static int is_question(struct span s)
{
    s = span_trim(s);
    return s.n && s.s[s.n - 1] == '?';
}

/* Behind marks of formulas, Markdown and blanks at i. */
static size_t behind_marks(struct span s, size_t i)
{
    while (i < s.n) {
        if (span_at(s, i, "</")) { /* a tag that closes */
            const char *end = memchr(s.s + i, '>', s.n - i < 24 ? s.n - i : 24);
            if (!end)
                break;
            i = (size_t)(end - s.s) + 1;
        } else if (span_at(s, i, "\\)") || span_at(s, i, "\\]")) {
            i += 2;
        } else if (ascii_is_space(s.s[i]) || strchr("$*_`}", s.s[i])) {
            i++;
        } else {
            break;
        }
    }
    return i;
}

/* Do the words in the statement's own sentence reject it: "not 8", "8 is wrong", "8?" */
static int is_rejected(struct span s, size_t start, size_t end)
{
    size_t i = behind_marks(s, end), from = start;
    while (from && (ascii_is_space(s.s[from - 1]) || strchr("$*_`([\\", s.s[from - 1])))
        from--;
    static const char *const unequal[] = {"\\ne", "\\neq", "\xe2\x89\xa0", "!="};
    for (size_t k = 0; k < sizeof unequal / sizeof *unequal; k++) {
        size_t n = strlen(unequal[k]);
        if (from >= n && !memcmp(s.s + from - n, unequal[k], n))
            return 1; /* "x \ne \boxed{8}" */
    }
    struct span before = {s.s + (from > 12 ? from - 12 : 0), from > 12 ? 12 : from};
    for (size_t k = 0; k < before.n; k++) {
        struct span word = {before.s + k, before.n - k};
        if ((!k || !ascii_is_letter(before.s[k - 1])) &&
            ((word.n == 3 && span_starts(word, "not")) || (word.n == 6 && span_starts(word, "cannot")) ||
             (word.n == 5 && span_starts(word, "never")) || (word.n == 5 && span_starts(word, "isn't")) ||
             (word.n == 9 && span_starts(word, "cannot be")) ||
             (word.n == 6 && span_starts(word, "not be")) || (word.n == 8 && span_starts(word, "can't be"))))
            return 1;
    }
    if (i >= s.n)
        return 0;
    if (s.s[i] == '?')
        return 1;
    struct span rest = {s.s + i, s.n - i};
    struct span whole = {rest.s, sentence_next(rest, 0)};
    if (sentence_begins(
            rest, "cannot be the|can't be the|cannot be right|cannot be correct|can't be right|is not the "
                  "answer|isn't the answer|does not work|doesn't work|does not satisfy|was my first|was our "
                  "first") ||
        (whole.n < 160 && sentence_begins(whole, "is|was|would be") &&
         sentence_says(whole, "but it is wrong|but it's wrong|but that is wrong|but that's wrong|but "
                              "this is wrong|but it is incorrect|but that is incorrect")))
        return 1;
    if (s.s[i] == '(' && sentence_begins(rest, "wrong)|incorrect)|rejected)|extraneous)|discarded)"))
        return 1;
    if (!sentence_begins(rest, "is|was|isn't|wasn't|would be|cannot|can't|seems|looks|must be"))
        return 0;
    rest.n = sentence_next(rest, 0);
    rest.n = rest.n < 40 ? rest.n : 40;
    return sentence_says(rest, negative) && !sentence_says(rest, "wrong to|not wrong|no error|no mistake");
}

/* ---- the value in a later sentence ---- */

/* Behind the text in the sentence, where it stands as a whole number or formula; 0 where it does not. */
static size_t behind_text(struct span s, struct span text)
{
    const char *at = s.s, *end = s.s + s.n;
    while (text.n && (at = memmem(at, (size_t)(end - at), text.s, text.n))) {
        size_t from = (size_t)(at - s.s), to = from + text.n;
        int joins_before = from && (span_is_word(s, from - 1) || strchr(".-\\/^", s.s[from - 1]));
        int joins_behind = to < s.n && (span_is_word(s, to) || strchr("^/!%({", s.s[to]) ||
                                        (s.s[to] == '.' && to + 1 < s.n && ascii_is_digit(s.s[to + 1])));
        if (!joins_before && !joins_behind)
            return to;
        at++;
    }
    return 0;
}

/* Behind the value in the sentence, or what stands behind its last equals sign; 0 where it is not named. */
static size_t behind_value(struct span s, struct span value)
{
    while (value.n && strchr("$*`_ .", value.s[0]))
        value = (struct span){value.s + 1, value.n - 1};
    while (value.n && strchr("$*`_ .", value.s[value.n - 1]))
        value.n--;
    size_t found = value.n < 64 ? behind_text(s, value) : 0;
    const char *equals = found || value.n > 64 ? NULL : memrchr(value.s, '=', value.n);
    if (equals)
        found =
            behind_text(s, span_trim((struct span){equals + 1, value.n - (size_t)(equals + 1 - value.s)}));
    return found;
}

/* Does the sentence name the value and reject it: "8 does not satisfy it", not "no one other than 8"? */
static int rejects_value(struct span s, struct span value)
{
    size_t to = behind_value(s, value), from = to;
    if (!to)
        return 0;
    while (from && !ascii_is_space(s.s[from - 1]))
        from--;
    struct span before = {s.s, from}, rest = {s.s + behind_marks(s, to), s.n - behind_marks(s, to)};
    if (sentence_says(before, "other|than|except|besides|unlike|not|only|if|false"))
        return 0;
    if (sentence_begins(rest,
                        "fails|is wrong|is incorrect|is impossible|is extraneous|is invalid|is too large|"
                        "is too small|violates|contradicts|leads to a contradiction|gives a "
                        "contradiction|must be rejected|is rejected|must be excluded|is ruled out|was "
                        "wrong|was incorrect|would be wrong|would violate"))
        return 1;
    return sentence_begins(rest,
                           "is not|isn't|was not|wasn't|does not|doesn't|cannot|can't|can not|do not") &&
           sentence_says(rest, "satisfy|work|works|fit|hold|match|correct|right|valid|a solution|a root|the "
                               "answer|allowed|possible|acceptable|in the domain|check out|be the");
}

/* Is there a number in the sentence, and the value not? */
static int names_another(struct span s, struct span value)
{
    int has_digit = 0;
    for (size_t i = 0; i < s.n; i++)
        has_digit |= ascii_is_digit(s.s[i]);
    return has_digit && !behind_value(s, value);
}

/* Does the writer say of themselves that there is a fault: "I see that I made a sign error"? */
static int owns_fault(struct span s)
{
    return sentence_says(s, owning) || (sentence_says(s, finding) && sentence_says(s, faults));
}

size_t sentence_before_second_thought(struct span s)
{
    static const char *const words[] = {
        " Wait",      " Actually",  " Hmm",        " Oops",       " Sorry",           " Scratch that",
        " No, ",      " wait, ",    " Hold on",    " Correction", " But wait",        " Let me",
        " However",   " I made",    ", sorry",     ", no, ",      " (no, ",           "\xe2\x80\x94 no, ",
        ", actually", " (actually", " or rather ", ", I mean ",   "\xe2\x80\x94 wait"};
    enum { WORDS = sizeof words / sizeof *words };
    size_t n = s.n, at[WORDS];
    for (int k = 0; k < WORDS; k++)
        at[k] = s.n;
    for (size_t i = 0; i + 1 < s.n; i++) { /* where each first stands */
        if (s.s[i] != ' ' && s.s[i] != ',' && s.s[i] != '\xe2')
            continue;
        for (int k = 0; k < WORDS; k++)
            if (words[k][1] == s.s[i + 1] && at[k] == s.n && span_at(s, i, words[k]))
                at[k] = i;
    }
    for (int k = 0; k < WORDS; k++)
        if (at[k] && at[k] + strlen(words[k]) <= n)
            n = at[k];
    return n;
}

/* Does a value follow the word that the sentence begins with: "Actually 7", "sorry, $x = 7$"? */
static int fixes_value(struct span s)
{
    size_t i = 0;
    while (i < s.n && !ascii_is_letter(s.s[i]))
        i++;
    while (i < s.n && ascii_is_letter(s.s[i]))
        i++;
    while (i < s.n && strchr(",:* ", s.s[i]))
        i++;
    if (i >= s.n || !(ascii_is_digit(s.s[i]) || strchr("$\\-", s.s[i])))
        return 0;
    while (i < s.n && !ascii_is_space(s.s[i]))
        i++;
    return !sentence_begins((struct span){s.s + i, s.n - i},
                            "is|are|does|doesn't|fails|cannot|can't|would|gives|leads");
}

struct span sentence_behind_fixing(struct span s)
{
    static const char words[] = "no|wait|sorry|actually|oops|hmm|rather|or rather|correction|i mean";
    while (s.n && (ascii_is_space(s.s[0]) || strchr(",;(.:*", s.s[0]) || span_at(s, 0, "\xe2\x80\x94") ||
                   span_at(s, 0, "\xe2\x80\x93"))) {
        size_t n = (s.s[0] & 0x80) ? 3 : 1;
        s = (struct span){s.s + n, s.n - n};
    }
    static const char *const phrases[] = {"My mistake", "My bad", "My error", "My apologies"};
    size_t n = 0, at;
    for (size_t k = 0; k < sizeof phrases / sizeof *phrases; k++) { /* at the start, or a sentence later */
        const char *found = span_find(s, phrases[k]);
        size_t behind = found ? (size_t)(found - s.s) + strlen(phrases[k]) : s.n;
        if (behind + 1 < s.n && (s.s[behind] == ':' || (found == s.s && strchr(",.;!-", s.s[behind]))))
            return span_trim((struct span){s.s + behind + 1, s.n - behind - 1});
    }
    if (sentence_begins(s, words))
        while (n < s.n && ascii_is_letter(s.s[n]))
            n++;
    for (at = n; at < s.n && strchr(",: ", s.s[at]);)
        at++;
    /* only before a value, with what closes the bracket that it stood in */
    if (n && at < s.n && (ascii_is_digit(s.s[at]) || strchr("$\\-", s.s[at])))
        s = (struct span){s.s + at, s.n - at};
    const char *close = memchr(s.s, ')', s.n);
    if (close && !memchr(s.s, '(', s.n) && s.n - (size_t)(close - s.s) < 3)
        s.n = (size_t)(close - s.s);
    return s;
}

static int ends_sentence(char c)
{
    return c == '.' || c == '!' || c == '?' || c == '\n' || !c;
}

/* Do the words before the statement, in its sentence, say that it did not last: "I first thought 8"? */
static int was_first(struct span s, size_t start)
{
    enum { REACH = 160 };
    size_t from = start;
    while (from && start - from < REACH && !ends_sentence(s.s[from - 1]))
        from--;
    return sentence_says((struct span){s.s + from, start - from}, at_first);
}

/* Is the statement only supposed: "suppose the answer were 8", "if x were 8, we would have a contradiction"?
 */
static int is_supposed(struct span s, size_t start, size_t end)
{
    enum { REACH = 80 };
    size_t from = start;
    while (from && start - from < REACH && !strchr(".!?;,:\n", s.s[from - 1]))
        from--;
    struct span before = {s.s + from, start - from}, rest = {s.s + end, s.n - end};
    if (sentence_says(before, "would be|would have been") && sentence_begins(rest, "if|had|were"))
        return 1; /* "it would be 8 if order mattered" */
    if (sentence_begins(before, "had|imagine|suppose|assume|pretend") &&
        sentence_says(before, "the answer is|the answer was|the answer been|it were|it was|it been"))
        return !sentence_says(before, "then|so|thus");
    if (!sentence_begins(before,
                         "if|suppose|supposing|assume|assuming|imagine|were|say|for the sake of|let us "
                         "suppose|let us assume|let's suppose|let's assume|what if|假设|如果|假如|若") ||
        sentence_says(before, "then|get|have|gives|give|yields|obtain|find|so|thus|answer is|and only"))
        return 0;
    if (sentence_begins(before,
                        "suppose|supposing|assume|assuming|imagine|were|say|let|let's|for|what|假设|假如") ||
        sentence_says(before, "were|was"))
        return 1;
    rest.n = sentence_next(rest, 0);
    return sentence_says(rest,
                         "contradiction|contradict*|impossible|absurd|fails|fail|cannot|can't|not|violates|"
                         "invalid|矛盾|不可能|不成立");
}

/* Do they call it a mistake: "a common wrong answer is 18"? */
static int is_mistaken(struct span s, size_t start)
{
    enum { REACH = 80 };
    size_t from = start;
    while (from && start - from < REACH && !strchr(".!?;,\n", s.s[from - 1]))
        from--;
    return sentence_says((struct span){s.s + from, start - from}, mistaken);
}

/* What one sentence behind the statement does to it. */
static enum taken_back effect_of(struct span one, struct span value, int is_next, int is_fixing,
                                 int is_checking)
{
    int fixes = sentence_begins(one, fixing), checks = is_checking || sentence_begins(one, checking);
    int judges = sentence_says(one, negative) &&
                 !sentence_says(one, "not wrong|nothing wrong|nicht falsch|pas faux|no es incorrect*");
    if (sentence_says(one, voiding))
        return TAKEN_BACK;
    if (is_question(one) || sentence_says(one, others))
        return TAKEN_BACK_NOT;
    if (owns_fault(one) || rejects_value(one, value) || ((fixes || is_fixing) && judges) ||
        (fixes && sentence_says(one, anew)) ||
        (is_fixing && sentence_says(one, "should be|should have been|correct answer")) ||
        (is_next && judges && sentence_begins(one, subjects)) ||
        (is_next && sentence_begins(one, "on second thought|correction|更正")))
        return TAKEN_BACK;
    if (sentence_says(one, slips) || (fixes && fixes_value(one)) ||
        ((fixes || checks) && (judges || sentence_says(one, failing)) && !names_another(one, value)))
        return TAKEN_BACK_BY_RESULT;
    return fixes || checks || is_fixing ? TAKEN_BACK_BY_ANSWER : TAKEN_BACK_NOT;
}

enum taken_back sentence_takes_back(struct span *rest, struct span *by, struct span section, size_t start,
                                    size_t end, struct span value)
{
    enum { REACH = 8192 };
    struct span s = {section.s, section.n - end > REACH ? end + REACH : section.n};
    int is_next = 1, is_fixing = 0, is_checking = 0;
    enum taken_back back = TAKEN_BACK_NOT;
    *rest = *by = (struct span){0};
    if (is_rejected(s, start, end) || is_mistaken(s, start) || is_supposed(s, start, end)) {
        *rest = *by = (struct span){section.s + end, section.n - end};
        by->n = sentence_next(s, end) - end;
        return TAKEN_BACK;
    }
    if (was_first(s, start)) {
        *rest = *by = (struct span){section.s + end, section.n - end};
        by->n = sentence_next(s, end) - end;
        back = TAKEN_BACK_BY_RESULT;
    }
    /* what is taken back in the statement's own sentence, "\boxed{8} Wait, that is wrong.", or behind it */
    size_t begin = behind_marks(s, end);
    while (begin < s.n && (strchr(".,;", s.s[begin]) || span_at(s, begin, "，") || span_at(s, begin, "。")))
        begin = behind_marks(s, begin + (s.s[begin] & 0x80 ? 3 : 1));
    struct span own = {s.s + begin, s.n - begin};
    int is_new = own.n && own.s[0] >= 'A' && own.s[0] <= 'Z'; /* the full stop is missing */
    if (!is_new && !sentence_begins(own, fixing) && !sentence_begins(own, owning) &&
        !sentence_begins(own, subjects))
        begin = sentence_next(s, end);
    struct sentences it = sentences_from(s, begin);
    for (size_t i = begin, next; i < s.n; i = next) {
        next = sentences_next(&it);
        struct span one = span_trim((struct span){s.s + i, next - i});
        if (!one.n)
            continue;
        int fixes = sentence_begins(one, fixing), checks = sentence_begins(one, checking);
        enum taken_back effect = effect_of(one, value, is_next, is_fixing, is_checking);
        if (effect < TAKEN_BACK && sentence_says(one, restoring) && !sentence_says(one, negative) &&
            !is_question(one) && !names_another(one, value)) {
            back = TAKEN_BACK_NOT;
        } else if (effect > back) {
            if (back == TAKEN_BACK_NOT)
                *rest = (struct span){section.s + i, section.n - i};
            *by = one;
            back = effect;
        }
        is_next &= fixes && one.n < 40;
        is_fixing = fixes;
        is_checking = checks || (is_checking && one.n < 40);
    }
    return back;
}
