/* Does text survive the way to ids and back, and what does the tokenizer put around it? */
#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/doctor/doctor_parts.h"

/* The largest vocabulary that a configuration may have (model_config.c). */
enum { VOCAB_MOST = 1 << 21 };

static const struct sample {
    const char *script, *text;
} samples[] = {
    {"English", "The quick brown fox jumps over 13 lazy dogs -- doesn't it?"},
    {"numbers", "3.14159 + 1,000,000 = 1e6; x^2 <= 10"},
    {"program text", "int main(void)\n{\n\treturn  f(a[0] && b); // twice\n}\n"},
    {"Latin with marks", "Zażółć gęślą jaźń, àéîõü ß"},
    {"Greek", "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία"},
    {"Cyrillic", "Съешь ещё этих мягких французских булок"},
    {"Hebrew and Arabic", "שלום עולם, مرحبا بالعالم"},
    {"Devanagari", "नमस्ते दुनिया"},
    {"Thai", "สวัสดีชาวโลก"},
    {"Chinese", "敏捷的棕色狐狸跳过了懒狗。"},
    {"Japanese", "いろはにほへと、カタカナ"},
    {"Korean", "안녕하세요 세계"},
    {"emoji", "\U0001F469\u200D\U0001F52C \U0001F1EA\U0001F1FA \u2764\uFE0F"},
};
enum { N_SAMPLES = sizeof samples / sizeof samples[0] };

/* 1: equal. back: what the text's ids decode to. */
static int round_trip(const struct tokenizer *t, const char *text, size_t n, struct str *back, struct err *e)
{
    struct tokenizer_scratch scratch = {0};
    struct token_list ids = {0};
    int rc = tokenizer_encode(t, &scratch, text, n, 0, &ids, e);
    str_clear(back);
    if (!rc)
        tokenizer_decode_text(t, ids.id, ids.n, 0, back);
    tokenizer_scratch_release(&scratch);
    token_list_release(&ids);
    return !rc && back->len == n && !memcmp(str_text(back), text, n);
}

static size_t char_bytes(const char *text)
{
    size_t n = 1;
    while (((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Why a text does not come back: its first character that does not survive alone, else a step that changes
 * whole texts. */
static void explain_sample(struct patient *p, const struct sample *s, const struct str *whole)
{
    struct str back = {0}, seen = {0}, was = {0};
    struct err e = {0};
    const char *c = s->text;
    while (*c && round_trip(p->tokenizer, c, char_bytes(c), &back, &e))
        c += char_bytes(c);
    doctor_visible(&seen, *c ? str_text(&back) : str_text(whole), *c ? back.len : whole->len);
    doctor_visible(&was, *c ? c : s->text, *c ? char_bytes(c) : strlen(s->text));
    if (e.code)
        doctor_say(p, FINDING_FAULT, "tokenizer", "%s: %s", s->script, e.text);
    else
        doctor_say(p, FINDING_WARNING, "tokenizer", "%s: \"%s\" comes back as \"%s\"%s", s->script,
                   str_text(&was), str_text(&seen),
                   *c ? ", so the vocabulary cannot spell it or the normalizer changes it"
                      : "; each character alone survives, so a normalizer or the decoder changes spaces or "
                        "neighbours");
    str_release(&back);
    str_release(&seen);
    str_release(&was);
}

static int last_id(const struct tokenizer *t, int *count)
{
    int last = -1;
    *count = 0;
    for (int32_t i = 0; i < VOCAB_MOST; i++)
        if (tokenizer_has(t, i)) {
            last = i;
            ++*count;
        }
    return last;
}

static void check_round_trip(struct patient *p)
{
    struct str back = {0}, number = {0};
    int equal = 0, count, last = last_id(p->tokenizer, &count);
    for (int i = 0; i < N_SAMPLES; i++) {
        struct err e = {0};
        if (round_trip(p->tokenizer, samples[i].text, strlen(samples[i].text), &back, &e))
            equal++;
        else
            explain_sample(p, &samples[i], &back);
    }
    doctor_number(&number, count);
    if (p->config.family && last >= p->config.vocab) {
        doctor_say(p, FINDING_FAULT, "tokenizer",
                   "its largest id is %d, and config.json has a vocabulary of %d", last, p->config.vocab);
        doctor_way_out("tokenizer.json and config.json are not of the same model: get both anew");
    }
    doctor_say(p, FINDING_OK, "tokenizer", "%s tokens; of texts of %d scripts and kinds %s%d came back equal",
               str_text(&number), N_SAMPLES, equal == N_SAMPLES ? "all " : "", equal);
    str_release(&back);
    str_release(&number);
}

static void check_frame(struct patient *p)
{
    static const char word[] = "Hello";
    struct tokenizer_scratch scratch = {0};
    struct token_list bare = {0}, plain = {0};
    struct err e = {0};
    int rc = tokenizer_encode(p->tokenizer, &scratch, word, strlen(word), 0, &bare, &e);
    if (!rc)
        rc = tokenizer_encode_plain(p->tokenizer, &scratch, word, strlen(word), 0, 0, &plain, &e);
    if (rc)
        doctor_say(p, FINDING_FAULT, "plain text", "%s", e.text);
    else if (plain.n == bare.n)
        doctor_say(p, FINDING_OK, "plain text", "no token stands before or after it:");
    else
        doctor_say(p, FINDING_OK, "plain text",
                   "%zu token%s around it, as the tokenizer's files say:", plain.n - bare.n,
                   plain.n - bare.n > 1 ? "s stand" : " stands");
    doctor_tokens(p->tokenizer, plain.id, plain.n);
    tokenizer_scratch_release(&scratch);
    token_list_release(&bare);
    token_list_release(&plain);
}

void doctor_tokenizer(struct patient *p)
{
    struct err e = {0};
    if (p->folder && !file_is_dir(p->folder))
        return;
    if (engine_open_tokenizer(p->model, &p->tokenizer, &e)) {
        p->is_refused = 1;
        doctor_say(p, FINDING_FAULT, "tokenizer", "%s", e.text);
        doctor_way_out(
            "get tokenizer.json and tokenizer_config.json of this model anew; what kveval does not "
            "support yet cannot be worked around");
        return;
    }
    if (!p->tokenizer) {
        doctor_say(p, FINDING_FAULT, "tokenizer", "no tokenizer.json, so no prompt can be encoded");
        doctor_way_out("get it where the weights are from; a folder with vocab.json and merges.txt alone "
                       "becomes one by transformers' AutoTokenizer...save_pretrained(FOLDER)");
        return;
    }
    check_round_trip(p);
    check_frame(p);
}
