#!/usr/bin/env python3
"""Writes tasks/known_rows.c: for each row of a published set the first 32 bits of a SHA-256, by which a file of it is
recognised. No text of a problem is in it. The public data are not part of the repository:

  aime24.jsonl, aime25.jsonl, math500.jsonl, gsm8k.jsonl   rows with problem (or question) and an answer
  longbench/SET.jsonl                                      rows with answers, as the data or the results of pred.py have them

Run as: tasks/known_rows.py FOLDER > tasks/known_rows.c && clang-format-14 -i tasks/known_rows.c
What is hashed is the same as in tasks/known_sets.c (row_of_text, row_of_answers). AIME stands in the order of the
official answers, which tasks/known_sets.c has, the others in the order of their files."""
import hashlib
import json
import re
import sys

LONGBENCH = ('narrativeqa qasper multifieldqa_en multifieldqa_zh hotpotqa 2wikimqa musique dureader gov_report qmsum '
             'multi_news vcsum trec triviaqa samsum lsht passage_count passage_retrieval_en passage_retrieval_zh lcc '
             'repobench-p').split()


def row(data):
    return int.from_bytes(hashlib.sha256(data).digest()[:4], 'big') or 1


def row_of_text(text):
    """Letters and digits alone: copies write LaTeX, white space and figures differently."""
    text = re.sub(r'\[asy\].*?\[/asy\]', '', text, flags=re.S)
    text = re.sub(r'\\[A-Za-z]+', '', text)
    return row(re.sub(r'[^a-z0-9]', '', re.sub(r'[A-Z]', lambda m: m[0].lower(), text)).encode())


def row_of_answers(answers):
    return row('\n'.join(answers).encode())


def read(name):
    with open(f'{sys.argv[1]}/{name}.jsonl', encoding='utf-8') as f:
        return [json.loads(line) for line in f if line.strip()]


def official_answers(name):
    with open('tasks/known_sets.c', encoding='utf-8') as f:
        numbers = re.search(name + r'_answers\[\] = \{([^}]*)\}', f.read())[1]
    return [int(x) for x in numbers.split(',')]


def texts(name):
    rows = read(name)
    if name.startswith('aime'):
        official = official_answers(name)
        of = lambda r: int(next(r[k] for k in ('expected_answer', 'answer', 'Answer') if k in r))
        assert sorted(map(of, rows)) == sorted(official), name
        left = list(rows)
        rows = [left.pop(next(i for i, r in enumerate(left) if of(r) == a)) for a in official]
    return [row_of_text(next(r[k] for k in ('problem', 'question', 'Problem') if k in r)) for r in rows]


def main():
    print('/* Fingerprints of the rows of published sets; made by tasks/known_rows.py. */\n'
          '#include "tasks/known_sets.h"\n')
    for name in ('aime24', 'aime25', 'math500', 'gsm8k'):
        show(name, texts(name))
    for name in LONGBENCH:
        show('longbench_' + name.replace('-', '_'), [row_of_answers(r['answers']) for r in read('longbench/' + name)])


def show(name, rows):
    print(f'const uint32_t known_{name}[{len(rows)}] = {{')
    for i in range(0, len(rows), 8):
        print(' '.join(f'0x{r:08x},' for r in rows[i:i + 8]))
    print('};\n')


main()
