/* Where data sets come from (contract: fetch.h). A hash stands here only if several independent projects
 * publish it for that commit; MATH-500's was also computed from the file itself, that of AIME 2024's answers
 * from another copy of the set (NeMo-Skills), and LongBench's numbers of rows are those of its README. */
#include "evalcore/fetch/fetch.h"

#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"

static const struct fetch_member longbench[] = {
    {"narrativeqa", 200},
    {"qasper", 200},
    {"multifieldqa_en", 150},
    {"multifieldqa_zh", 200},
    {"hotpotqa", 200},
    {"2wikimqa", 200},
    {"musique", 200},
    {"dureader", 200},
    {"gov_report", 200},
    {"qmsum", 200},
    {"multi_news", 200},
    {"vcsum", 200},
    {"trec", 200},
    {"triviaqa", 200},
    {"samsum", 200},
    {"lsht", 200},
    {"passage_count", 200},
    {"passage_retrieval_en", 200},
    {"passage_retrieval_zh", 200},
    {"lcc", 500},
    {"repobench-p", 500},
    {NULL, 0},
};

static const struct fetch_source sources[] = {
    {.task = "aime24",
     .form = FETCH_ROWS,
     .repo = "HuggingFaceH4/aime_2024",
     .revision = "main",
     .file = "aime/aime24.jsonl",
     .licence = "not stated (problems: MAA)",
     .split = "train",
     .n_rows = 30,
     .answers = "b08d736eb78516b35f0eb47906ff3acb3dfc10f33ce33e71559ca2c75b0d8214"},
    {.task = "aime25",
     .repo = "opencompass/AIME2025",
     .revision = "a6ad95f611d72cf628a80b58bd0432ef6638f958",
     .part = {"aime2025-I.jsonl", "aime2025-II.jsonl"},
     .sha256 = {"b91b3c96f05d9635d2a0692b124ebe023c1ff59cb19c074275e6c4b349d0659e",
                "16a2dcfbbf9db1b11f8a69a3ba5e4cac73e3641b19a37e2307e9c12240bbed5e"},
     .file = "aime/aime25.jsonl",
     .licence = "MIT (problems: MAA)"},
    {.task = "math500",
     .repo = "HuggingFaceH4/MATH-500",
     .revision = "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be",
     .part = {"test.jsonl"},
     .sha256 = {"35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132"},
     .file = "math500/test.jsonl",
     .licence = "MIT"},
    {.task = "gpqa_diamond",
     .repo = "Idavidrein/gpqa",
     .revision = "633f5ee89ab8ad4522a9f850766b73f62147ffdd",
     .part = {"gpqa_diamond.csv"},
     .sha256 = {"41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305"},
     .file = "gpqa/gpqa_diamond.csv",
     .licence = "CC BY 4.0",
     .is_gated = 1},
    {.task = "gsm8k",
     .revision = "3101c7d5072418e28b9008a6636bde82a006892c",
     .part = {"https://raw.githubusercontent.com/openai/grade-school-math/"
              "3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data/test.jsonl"},
     .sha256 = {"3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14"},
     .file = "gsm8k/test.jsonl",
     .licence = "MIT"},
    {.task = "longbench",
     .form = FETCH_ZIP,
     .repo = "zai-org/LongBench",
     .revision = "main",
     .part = {"data.zip"},
     .file = "longbench",
     .licence = "MIT (texts: their sources)",
     .members = longbench},
};

const struct fetch_source *fetch_source_at(size_t i)
{
    return i < sizeof sources / sizeof *sources ? &sources[i] : NULL;
}

const struct fetch_source *fetch_source_find(const char *task)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!strcmp(sources[i].task, task))
            return &sources[i];
    return NULL;
}

static int has_other_hash(const char *path, const char *sha256)
{
    struct file_map map = {0};
    char hex[65];
    if (file_map_open(&map, path, NULL))
        return 0;
    sha256_hex(map.data, map.size, hex, 64);
    file_map_close(&map);
    return strcmp(hex, sha256) != 0;
}

enum fetch_state fetch_source_look(const struct fetch_source *s, const char *data)
{
    struct str path = {0};
    file_join(&path, data, s->file);
    enum fetch_state state = file_exists(path.data) ? FETCH_THERE : FETCH_MISSING;
    for (const struct fetch_member *m = s->members; m && m->name && state; m++) {
        struct str member = {0};
        str_printf(&member, "%s/%s.jsonl", path.data, m->name);
        state = file_exists(member.data) ? FETCH_THERE : FETCH_MISSING;
        str_release(&member);
    }
    if (state && s->sha256[0] && !s->sha256[1] && has_other_hash(path.data, s->sha256[0]))
        state = FETCH_OTHER;
    str_release(&path);
    return state;
}
