/* Where data sets come from (contract: fetch.h). A hash stands here only if several independent projects
 * publish it for that commit; MATH-500's was also computed from the file itself, that of AIME 2024's answers
 * from another copy of the set (NeMo-Skills), those of MathArena's sets from copies that tasks/sets names,
 * those of Qwen2.5-Math's from the repository, and LongBench's numbers of rows are those of its README. */
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
    {.task = "aime26",
     .form = FETCH_ROWS,
     .repo = "MathArena/aime_2026",
     .revision = "main",
     .file = "matharena/aime26.jsonl",
     .licence = "CC BY-NC-SA 4.0 (problems: MAA)",
     .split = "train",
     .n_rows = 30,
     .answers = "75525a8a05dc11084d16fc066f4389aada31d92306e5d6acfb485f80ae6867a3"},
    {.task = "hmmt_feb25",
     .form = FETCH_ROWS,
     .repo = "MathArena/hmmt_feb_2025",
     .revision = "main",
     .file = "matharena/hmmt_feb25.jsonl",
     .licence = "CC BY-NC-SA 4.0",
     .split = "train",
     .n_rows = 30,
     .answers = "46b4d8de4a01c6a6c1583d5611bc64b1d01472a761e6fc8b073b810a8b912bdb"},
    {.task = "hmmt_nov25",
     .form = FETCH_ROWS,
     .repo = "MathArena/hmmt_nov_2025",
     .revision = "main",
     .file = "matharena/hmmt_nov25.jsonl",
     .licence = "CC BY-NC-SA 4.0",
     .split = "train",
     .n_rows = 30,
     .answers = "24ae45d5b2c59686051577c883428947ab6627cd4f55dd81b59a94a1cebf93e8"},
    {.task = "hmmt_feb26",
     .form = FETCH_ROWS,
     .repo = "MathArena/hmmt_feb_2026",
     .revision = "main",
     .file = "matharena/hmmt_feb26.jsonl",
     .licence = "CC BY-NC-SA 4.0",
     .split = "train",
     .n_rows = 33,
     .answers = "2510dd3a66c18a5e6cdfa119d8ce948e9b24f6a11c615f7a883b49cd20c7025a"},
    {.task = "brumo25",
     .form = FETCH_ROWS,
     .repo = "MathArena/brumo_2025",
     .revision = "main",
     .file = "matharena/brumo25.jsonl",
     .licence = "CC BY-NC-SA 4.0",
     .split = "train",
     .n_rows = 30,
     .answers = "b0d45145297bec809d38121e1258d459d104653da8029ffee76fb4080770493d"},
    {.task = "cmimc25",
     .form = FETCH_ROWS,
     .repo = "MathArena/cmimc_2025",
     .revision = "main",
     .file = "matharena/cmimc25.jsonl",
     .licence = "CC BY-NC-SA 4.0",
     .split = "train",
     .n_rows = 40,
     .answers = "99d0f1a6782084e1f847e1e9e91467dbabc099608d80bd82b93b087b60ed3d7b"},
    {.task = "amc23",
     .revision = "a45202bd16f1ec06f433442dc1152d0074773465",
     .part = {"https://raw.githubusercontent.com/QwenLM/Qwen2.5-Math/"
              "a45202bd16f1ec06f433442dc1152d0074773465/evaluation/data/amc23/test.jsonl"},
     .sha256 = {"43707e1ca784602d8479de24ee8ce36609dbebc46dd152b0b12a46611aa898a4"},
     .file = "qwen_math/amc23.jsonl",
     .licence = "MIT (problems: MAA)"},
    {.task = "olympiadbench",
     .revision = "a45202bd16f1ec06f433442dc1152d0074773465",
     .part = {"https://raw.githubusercontent.com/QwenLM/Qwen2.5-Math/"
              "a45202bd16f1ec06f433442dc1152d0074773465/evaluation/data/olympiadbench/test.jsonl"},
     .sha256 = {"bb8c1e38a16ea9eacb77530315a674d883f267fbff79183effc53681b4fcc416"},
     .file = "qwen_math/olympiadbench.jsonl",
     .licence = "Apache 2.0"},
    {.task = "minerva",
     .revision = "a45202bd16f1ec06f433442dc1152d0074773465",
     .part = {"https://raw.githubusercontent.com/QwenLM/Qwen2.5-Math/"
              "a45202bd16f1ec06f433442dc1152d0074773465/evaluation/data/minerva_math/test.jsonl"},
     .sha256 = {"0e656b430d3a0a1dab6aa853f453ba3805e28e2cabe4fc72486a897cc09d8ba2"},
     .file = "qwen_math/minerva.jsonl",
     .licence = "MIT OpenCourseWare"},
    {.task = "longbench_v2",
     .repo = "zai-org/LongBench-v2",
     .revision = "2b48e494f2c7a2f0af81aae178e05c7e1dde0fe9",
     .part = {"data.json"},
     .sha256 = {"15d61c22d92c96900b3c4948b6aeea218d3214b676a65df48e7b8555604c7fe2"},
     .file = "longbench_v2/data.json",
     .licence = "Apache 2.0"},
    {.task = "supergpqa",
     .revision = "03a3e2789c50e335c83be8b62cb7334dd92bd78a",
     .part = {"https://raw.githubusercontent.com/SuperGPQA/SuperGPQA/"
              "03a3e2789c50e335c83be8b62cb7334dd92bd78a/data/SuperGPQA-all.jsonl"},
     .file = "supergpqa/SuperGPQA-all.jsonl",
     .licence = "ODC-BY"},
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
