"""Writes jinja.json beside it: small templates of our own, one or a few for each part of the language, and
what jinja2 renders from them with the settings that Transformers uses. Needs jinja2 3.1; run it again after
changing the tables. REFUSED are those that kveval refuses, with words of the message."""
import json
import os

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise TemplateError(message)


env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                    extensions=[Generation, "jinja2.ext.loopcontrols"])
env.filters["tojson"] = lambda v, ensure_ascii=False: json.dumps(v, ensure_ascii=ensure_ascii)
env.globals["raise_exception"] = raise_exception
env.globals["strftime_now"] = lambda form: "today"

TURNS = """{%- if messages[0].role == 'system' %}
    {{- '<s>' + messages[0].content | trim + '</s>' }}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set rest = messages %}
{%- endif %}
{%- for m in rest -%}
    {% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns: ' ~ m.role) }}{% endif %}
    {{- '<' ~ m.role + '>' + m.content + '<end>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<assistant>\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}"""
LAST = """{%- set ns = namespace(last=-1, open=true) %}
{%- for m in messages[::-1] %}
{%- set index = (messages|length - 1) - loop.index0 %}
{%- if ns.open and m.role == "user" and m.content is string and not(m.content.startswith('<r>') and m.content.endswith('</r>')) %}
{%- set ns.open = false %}{%- set ns.last = index %}
{%- endif %}
{%- endfor %}
{%- for m in messages %}
{%- if m.role == "assistant" %}{%- set reasoning = '' %}{% set content = m.content %}
{%- if '</think>' in content %}
{%- set reasoning = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
{%- set content = content.split('</think>')[-1].lstrip('\\n') %}
{%- endif %}{{ '[' ~ reasoning ~ '|' ~ content ~ (loop.index0 > ns.last) ~ ']' }}
{%- else %}{{- m.role }}:{{ m.content }}/
{%- endif %}{% endfor %}{{ ns.last }}"""

TEMPLATES = [
    TURNS, LAST,
    # white space around tags
    "a\n  {% if true %}\n  b  {% endif %}\n  {# c #}\n d {{ 'x' }}\n\n", " {%- if 1 -%} \n a \n {%- endif +%}\nb",
    "  {%+ if 1 %}x{% endif %}  \n{%- set x = 1 -%}  \n y\n", "x {#- c -#} y\r\nz\n", "{{ 'a' -}}\n\n b {{- 'c' }}\n d",
    "\xa0 {%- if 1 %}\n\n{% endif %}",
    # constants
    r"{{ 'a\n\t\\\'\x41é\q' }}{{ \"it's\" \"both\" }}".replace('\\"', '"'), "{{ 1 }}{{ -3 }}{{ none }}{{ true }}{{ nothing }}",
    "{{ {'a': {'b': 'c'}}.a.b }}{{ {'a': 1}['a'] }}{{ ['x', 'y'][-1] }}{{ ('p', 'q')[0] }}{{ [][3] }}",
    # operators
    "{{ 1 + 2 * 3 - 4 }}{{ 7 // 2 }}{{ -7 // 2 }}{{ 7 % 3 }}{{ -7 % 3 }}{{ 'a' ~ 1 ~ none ~ x }}{{ 1 + 1 ~ 2 + 3 }}",
    "{{ 1 < 2 < 3 }}{{ 1 == 1.0|int if false else 'b' }}".replace("1.0|int", "true"), "{{ 'a' in 'cat' }}{{ 'a' not in ['b'] }}{{ 'b' in {'b': 1} }}",
    "{{ not 1 == 2 }}{{ 0 or '' or 'z' }}{{ 1 and 'y' }}{{ (x is defined) }}{{ 'q' if x }}{{ x == y }}{{ none == x }}",
    "{{ ([1] + [2])|length }}{{ 'é中a'|length }}{{ 'é中a'[1] }}{{ 'é中a'[1:] }}{{ 'abc'[:-1] }}{{ 'abc'[5:] }}",
    "{% for i in range(5)[::-1] %}{{ i }}{% endfor %}{% for i in range(1, 9, 3) %}{{ i }}{% endfor %}{% for i in [1,2,3,4][1:3] %}{{ i }}{% endfor %}",
    # loops and scopes
    "{% for c in 'añb' %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.revindex0 }}{{ c }} {% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 5 + i %}{{ x }}{% endfor %}{{ x }}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}{% for k in {'a': 1} %}{{ k }}{% else %}none{% endfor %}",
    "{% for m in messages if m.role == 'user' %}{{ loop.length }}{{ m.content }}{% else %}nobody{% endfor %}{% for q in [] %}{% else %}empty{% endfor %}",
    "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for m in messages %}{% if loop.previtem is defined %}{{ loop.previtem.role }}{% endif %}{% if loop.nextitem %}{{ loop.nextitem.role }}{% endif %};{% endfor %}",
    "{% if x is defined %}a{% elif messages %}b{% else %}c{% endif %}{% if false %}{{ gone.gone() }}{% endif %}",
    "{% set a, b = ('l', 'r') %}{{ a }}{{ b }}{% set c %} in {{ a }}{% endset %}{{ c | trim }}{% set n = namespace() %}{% set n.q = 4 %}{{ n.q }}",
    "{% macro f(a, b='d', c=none) %}<{{ a }}{{ b }}{% if c %}{{ c }}{% endif %}>{% endmacro %}{{ f(1) }}{{ f('x', c='y') ~ '!' }}{{ f(a='n', b=2) }}",
    "{% macro count(n) %}{{ n }}{% if n %}{{ count(n - 1) }}{% endif %}{% endmacro %}{{ count(4) }}{% generation %}g{% endgeneration %}",
    # filters, tests, methods
    "{{ messages[-1].content | trim }}|{{ messages[-1]['content'] | length }}|",
    "{{ messages | map(attribute='role') | join(', ') }}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ (messages | rejectattr('role', 'in', ['user']) | first).role }}",
    "{{ x | default('d') }}{{ '' | default('e', true) }}{{ none | default('f') }}{{ 'aXbX'|replace('X', '--') }}{{ 'Ab'|upper }}{{ 'Ab'|lower }}{{ [3, 4]|last }}",
    "{{ {'k': ['é', 1, true, none, 'a\"\\n']} | tojson }}{% for k, v in {'z': 1}|items %}{{ k }}{{ v }}{% endfor %}{{ 12|string + 'a' }}{{ 'a'|safe ~ '<' }}",
    "{{ 1 is number }}{{ 'a' is string }}{{ [] is iterable }}{{ {} is mapping }}{{ 'a' is sequence }}{{ none is none }}{{ x is not defined }}{{ true is true }}{{ 1 is boolean }}{{ 3 is odd }}{{ 1 is eq 1 }}{{ 2 is in [2] }}",
    "{{ '  a b '.strip() }}{{ 'xxaxx'.strip('x') }}{{ 'xya'.lstrip('yx') }}{{ 'a,b,c'.split(',', 1)[1] }}{{ 'a--b'.split('--')|join('+') }}{{ 'abc'.replace('b', '') }}{{ 'abc'.find('c') }}{{ 'aé'.find('é') }}{{ 'AB'.lower() }}",
    "{{ {'a': 1}.get('a') }}{{ {'a': 1}.get('b') }}{{ {'a': 1}.get('b', 'n') }}{{ {'b': 2, 'a': 1}.keys()|list|join }}{{ {'a': 4}.values()|list|first }}",
    "{{ messages[0].gone is defined }}{{ messages[0]['gone'] is none }}{{ messages[0].get('gone') is none }}{{ tools is none }}{{ tools is defined }}{{ bos_token }}{{ strftime_now is defined }}",
    "{% set x %}{% set y = 1 %}{{ y }}{% endset %}[{{ y }}]{{ x }}{% generation %}{% set z = 2 %}{% endgeneration %}[{{ z }}]",
    "a{#-#}  \n x{#- b -#}  \n y{#+#}\n z{#+ c +#}\n", "{{ gone is callable }}{{ 'a' is callable }}{{ () == () }}{{ (1, 2) == (1, 2) }}{{ [1] == [1] }}",
    "{{ {'x': 1}['items'] is defined }}{{ {'items': 3}['items'] }}{{ {'x': 1}['copy'] is defined }}{{ {'x': 1}.update is callable }}{{ {'x': 1}['gone'] is defined }}",
    # errors on both sides
    "{{ gone.attribute }}", "{{ 'a' + gone }}", "{{ raise_exception('no ' + messages[0].role) }}", "{% for i in none %}{% endfor %}", "{{ 'a' < 1 }}",
]
REFUSED = [
    ("{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l | tojson }}", "too large"),
    ("{{ [[1]] == [[1]] }}", "lists of lists"), ("{{ {'a': 1} in [{'a': 1}] }}", "two mappings"),
    ("{% set n = namespace(x='aaaaaaaa') %}{% for i in range(20) %}{% set n.x = n.x + n.x %}{% endfor %}{% for i in range(1500) %}{% if 'b' in n.x %}{% endif %}{% endfor %}", "too long"),
    ("{% set n = namespace(x='aaaaaaaa') %}{% for i in range(20) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x | replace('a', n.x) }}", "more memory"),
    ("{{ strftime_now('%Y') }}", "today's date"), ("a\n\n{{ 'a'.center(3) }}", "line 3: the attribute center"),
    ("{{ 1|pprint }}", 'the filter "pprint" on a number'), ("{% include 'x' %}", 'the tag "include"'), ("{{ 1.5 }}", "a fraction"),
    ("{% for a in b recursive %}{% endfor %}", "recursive"), ("{% if 1 %}", '"elif" is missing at the end'), ("{{ 'a }}", "a string does not end"),
    ("{{ {'a': 1} }}", "a mapping as text"), ("{{ messages[-1].content }}-{{ messages[-1].content }}", "several places"),
    ("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", "more memory"),
    ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "too deeply"), ("{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "too deeply"),
    ("{% for i in range(40) %}{% set ns.a = 1 %}{% endfor %}", "no namespace"), ("{{ 'é'|upper }}", "upper"), ("{{ 9223372036854775806 }}", "small decimal"),
    ("{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}", "memory"),
    ("{% for i in [1] %}{{ loop.depth }}{% endfor %}", "loop.depth"), ("{% for i in [1] %}{{ loop['depth0'] }}{% endfor %}", "loop.depth0"),
    ("{% for i in [1] %}{% set loop.x = 1 %}{% endfor %}", "no namespace"), ("{{ '\\é' }}", "this escape"), ("{{ [] == () }}", "a list with a tuple"),
    ("{{ 'a'|safe + '<' }}", "a string + a string"), ("{{ 4 / 2 }}", "calculation with /"), ("{% set x | trim %}a{% endset %}", "set block"),
]
TEXT = " \n What is 2 + 3? <x> é中 \"q\" \\boxed{} {{ 1 }} \n"
CHATS = [
    [("user", TEXT)], [("system", " Be terse. \n"), ("user", TEXT)],
    [("user", "Hi"), ("assistant", "<think>\nhm\n</think>\n\nHello."), ("user", TEXT)],
    [("system", "S"), ("user", "Hi"), ("assistant", "Hello"), ("user", "a")],
]


def variables(thinking):
    v = dict(bos_token="<b>", tools=None, add_generation_prompt=True)
    return v if thinking is None else dict(v, enable_thinking=thinking)


def main():
    rows = []
    for number, template in enumerate(TEMPLATES):
        for k, chat in enumerate(CHATS):
            for thinking in (None, True, False) if "thinking" in template else (None,):
                messages = [{"role": role, "content": content} for role, content in chat]
                row = {"name": f"{number}.{k}", "template": template, "messages": messages, "vars": variables(thinking)}
                try:
                    row["text"] = env.from_string(template).render(messages=messages, **row["vars"])
                except Exception:
                    row["refused"] = f"{number}.{k}, line "
                rows.append(row)
    for number, (template, words) in enumerate(REFUSED):
        rows.append({"name": f"refused {number}", "template": template, "refused": words,
                     "messages": [{"role": "user", "content": TEXT}], "vars": variables(None)})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "jinja.json")
    with open(path, "w", encoding="utf8") as out:
        out.write("[\n" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n]\n")


main()
