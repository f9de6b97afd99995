/* The words that say something about option letters, in the languages that models answer in (contract:
 * choice_words.h). An entry matches whole words; one that ends in "*" matches the words that start like it,
 * and one that ends in an apostrophe or in a character of East Asia needs no end of a word behind it. */
#include "answer_check/choice/choice_words.h"

#include <stdlib.h>
#include <threads.h>

#include "answer_check/choice/choice_scan.h"

/* clang-format off: it would break the lines by bytes */
static const struct {
    enum choice_kind kind;
    const char *words; /* separated by bars */
} lexicon[] = {
    {K_LIGHT, "the|an|what|makes|make|making|would be my|would be our|才|だと思います|this|let me|"
              "let us|let's|i|we|you|my|our|your|its|i'd|i'll|i'm|i've|we'd|am|do|does|did|has|have|had|"
              "having|can|will|must|should|shall|been|being|clearly|definitely|certainly|most|more|"
              "likely|probably|obviously|simply|just|indeed|then|also|too|easily|surely|really|very|of|"
              "all|only the|to|that|there|one|ones|no doubt|without doubt|without a doubt|no question|"
              "almost surely|almost certainly|nearly certain|pretty|quite|here|again|as follows|hence "
              "the|necessarily|each|any|"
              "as|for sure|by far|single|remaining one|still|both of|elimination|process of elimination|"
              "exclusion|truly|in fact|die|der|das|den|dem|zu|ich|wir|meine|mein|wohl|auch|kann|muss|la|"
              "le|les|l'|d'|n'|ne|qu'|que|il|je|nous|bien|de|du|des|ma|el|los|las|lo|del|yo|mi|la letra|"
              "peut|doit|puede|debe|pode|deve|può|os|as|eu|minha|il|gli|io|lo|mia|se|sich|also|я|мы|мой|"
              "тут|здесь|может|должен|под|буква|буквой|的|項|项|我|我们|我們|本题|本題|最|应该|應該|"
              "应当|应|應|了|故|也|故而|这个|這個|个|個|一|就|会|會|が|を|の|も|です|でしょう|である|"
              "だと|だ|と思います|と思う|と考え|私|ます|で|一つ|記号|이|가|을|를|도|입니다|이다|합니다|"
              "번|한다|인|로|으로|것|저는|나는|할|"
              "yang|het|är det|है|हैं|delle|dei|degli|itself|"
              "given by|given in|found in|represented by|of course|is considered|be considered|"
              "number|"
              "exactly|precisely|what|let me see.|"
              "among the choices|among the options|among the given options|among the given choices|"
              "among these options|among these choices|among these|among them|of the options|"
              "of the choices|of the given options|of the given choices|from the options|"
              "from the list"},
    {K_ANSWER, "answer|ans|ans.|ans)|ответом|ответа|antwort|antw.|réponse|reponse|rép.|respuesta|"
               "resposta|gabarito|lösung|risposta|ответ|отв.|答案|答え|答|正解|正答|解答|정답|정답이|답|"
               "답안|答案选项|answer key|answer choice|"
               "answer's|answer letter|jawaban|jawabannya|đáp án|Đáp án|câu trả lời|Câu trả lời|"
               "cevap|doğru cevap|Doğru cevap|odpowiedź|उत्तर|सही उत्तर|الإجابة|الجواب|antwoord|svar|"
               "svaret|คำตอบ|відповідь|răspuns|răspunsul|"
               "winner"},
    {K_OPTION, "option|choice|letter|alternative|statement|opt.|buchstabe|variante|aussage|"
               "antwortoption|lettre|proposition|opción|opcion|letra|alternativa|inciso|opção|opcao|"
               "item|opzione|lettera|вариант|вариантом|букву|пункт|утверждение|选项|選項|選択肢|番|보기|"
               "선택지|옵션|"
               "pilihan|phương án|Phương án|lựa chọn|seçenek|şık|ข้อ|ตัวเลือก|विकल्प|الخيار|optie|"
               "alternativ|"
               "closest match|best match|nearest match|the closest|the closest one|"
               "the closest match"},
    {K_LIST, "answers|options|choices|answer choices|answer options|possible answers|alternatives|"
             "letters|statements|optionen|antworten|réponses|respuestas|opciones|respostas|opções|"
             "alternativas|risposte|opzioni|ответы|варианты|варианты ответов|candidates"},
    {K_LABEL, "final|qed|q.e.d.|to sum up|summing up|sum up|verdict|conclusion|result|response|"
              "key|solution|output|decision|ergebnis|fazit|solución|solucion|solução|soluzione|"
              "conclusión|conclusão|résultat|resp|resp.|решение|итог|вывод|结论|結論|结果|最终|最終|"
              "결론|최종|"
              "prediction|tl;dr|tldr|"
              "summary|bottom line|takeaway|in brief|"
              "verified|confirmed"},
    {K_IS, "is|was|está|be|be the|equals|comes out as|comes out to be|turns out to be|has to be|"
           "needs to be|must be|ist|lautet|wäre|sein|est|être|es|ser|sería|será|é|seria|è|sarà|это|"
           "является|будет|быть|является|是|为|為|应为|應為|应是|應是|は|とは|은|는|为选项|就是|即|即为|"
           "adalah|ialah|là|är|คือ|هي|هو|jest"},
    {K_ARE, "are|都|均|皆|were|están|estão|sind|sont|son|são|sono"},
    {K_IT, "it|this one|that one|that|ce|c'|cela|esto|isso|questo"},
    {K_ITIS, "it's|that's|c'est|it'd be|it must be|it has to be|il s'agit de|se trata de|trata-se de|"
             "si tratta di|es ist"},
    {K_RIGHT, "correct|right|best|most likely|likeliest|most probable|most plausible|exact|correctly|"
              "rightly|better|valid|most appropriate|most suitable|most accurate|richtig*|korrekt*|"
              "beste|stimmt|trifft zu|zutreffend|correcte|correctes|bonne|juste|exacte|correcta|"
              "correcto|adecuada|correta|correto|certa|corretta|corretto|giusta|esatta|верн*|верен|"
              "верна|最適|最適切|правильн*|正确|正確|对|對|对的|對的|合适|合適|恰当|正しい|適切|맞|"
              "맞습니다|옳|옳은|옳습니다|올바른|맞는|적절한|"
              "more accurate|more plausible|more appropriate|more suitable|more precise|accurate|"
              "benar|yang tepat|đúng|chính xác|doğru|doğrudur|prawidłow*|poprawn*|सही|الصحيحة|"
              "الصحيح|صحيحة|juiste|rätt|ถูกต้อง|"
              "what we want|what we need|what is asked"},
    {K_FITS, "fits|matches|works|holds|true|satisfies|agrees|consistent|meets|stands|fit|passt|convient|"
             "cumple|подходит|符合*|符合|满足|滿足|当てはまる|適する|"
             "passes|checks out"},
    {K_CHOOSE, "choose|choosing|chose|chosen|pick|picking|picked|select|selecting|selected|go with|"
               "going with|went with|go for|going for|opt for|opting for|settle on|settle for|guess|"
               "selection|prefer|vote|voting|bet|best bet|bet on|lean towards|lean toward|"
               "leaning towards|leaning toward|inclined towards|vote for|answer with|stick with|wähle|"
               "entscheide mich für|choisis|je choisis|on choisit|choisir|retient|elijo|elegir|escojo|"
               "selecciono|marco|me quedo con|escolho|assinalo|marcar|scelgo|scegliere|выбираю|выбираем|"
               "выбрать|выбор|选|選|选择|選擇|選ぶ|選び|選択|应选|應選|应选择|應選擇|선택|고르|고른"},
    {K_LEAVE, "leaving|leaves|leaves only|left with|remains|remain|remaining|left|survives|survive|"
              "survivor|which leaves|stays|stay|wins|prevails|what is left|what's left|leaves us with|"
              "leave us with|leaves me with|leaving us with|leaving me with|leaves just|that leaves|"
              "left over|left standing|standing|last one|last one standing|last option|bleibt|bleiben|"
              "übrig|verbleibt|reste|il reste|queda|quedan|resta|rimane|sobra|остаётся|остается|"
              "остаются|しかない|剩下|剩|仅剩|只剩|得|得到|得出|可得|残る|残り|남"},
    {K_GIVES, "gives|yields|we get|gets us to"},
    {K_ONLY, "only|sole|alone|solely|exclusively|nothing but|none but|none other than|nur|einzig|seul|"
             "seule|seulement|uniquement|solo|sólo|solamente|únicamente|só|apenas|somente|soltanto|"
             "только|лишь|единственный|只有|仅有|仅|只|唯一|のみ|だけ|만|유일|"
             "only possible|only plausible|only viable"},
    {K_NOT, "not|cannot|never|no|hardly|nothing|doubt|without|no longer|far from|anything but|nicht|"
            "kein|keine|nie|pas|non|não|nunca|não há|не|нет ли|нельзя|不是|不|并非|並非|不可能|不能|"
            "不会|不选|不選|不应选|不要选|非|并不是|不应|没有|沒有|disagree|"
            "bukan|tidak|không|niet|inte|ไม่ใช่|ليس|ليست"},
    {K_NEITHER, "neither|nor|none|none of|no option|weder|noch|keiner|keines|ni|aucun|aucune|ninguna|"
                "ninguno|nem|nenhuma|nenhum|né|nessuna|nessuno|ни|никакой|ни один|既不|也不|都不是|皆非|"
                "keine der|keiner der|keines der|aucune des|aucun des|ninguna de|nessuna delle|"
                "nenhuma das|geen van|"
                "differs from|differ from|different from|inconsistent with|incompatible with|"
                "opposite of|disagrees with|disagree with"},
    {K_WRONG, "wrong|incorrect|incorrectly|false|impossible|invalid|eliminat*|exclud*|reject*|discard*|"
              "rule out|rules out|ruled out|ruling out|rule|ruled|crossed out|cross out|crossing out|"
              "dismiss*|refut*|disprov*|inconsistent|implausible|untenable|least likely|unlikely|out|"
              "distractor|trap|untrue|inaccurate|unsuitable|mistaken|falsch*|ausgeschlossen|"
              "ausschließen|unmöglich|scheidet|scheiden|inkorrekt|faux|fausse|fausses|incorrecte|"
              "incorrectes|exclue|exclut|exclure|éliminer|élimine|éliminée|incorrecta|incorrectas|"
              "incorrecto|falsa|falsas|falso|errónea|descart*|excluy*|imposible|incorreta|incorretas|"
              "errada|erradas|errado|elimin*|exclu*|sbagliata|sbagliate|errata|errate|scorretta|esclus*|"
              "неверн*|неверен|неверна|неправильн*|ошибоч*|исключ*|отпада*|ложн*|错|錯|错误|錯誤|不对|"
              "不對|不正确|不正確|不符合|不合适|不合題意|不合题意|不满足|不成立|有误|排除|都不对|都错|"
              "均错误|誤り|間違い|間違って|不正解|不適切|正しくない|正しくありません|除外|誤答|誤って|"
              "틀|틀렸|틀린|틀립니다|오답|제외|잘못|배제|"
              "mistake|salah|sai|yanlış|błędn*|गलत|خطأ|fel|ผิด|"
              "worst|naive|second best|second-best|second choice|runner-up|other option|"
              "another option|previous answer|earlier answer|initial answer|original answer|"
              "old answer|"
              "doubtful|dubious|questionable|refuse to"},
    {K_FAILS, "fails|fail|failed|violates|violate|contradicts|contradict|falls away|drops out|drop out|"
              "overestimates|underestimates|conflicts|ではない|ではなく|ではありません|でない|じゃない|"
              "はない|はありません|ない|なく|ません|違う|違い|아니라|아닙니다|아니|아니다|아니고|않|"
              "않습니다|없습니다|"
              "değil|değildir|नहीं"},
    {K_THAN, "rather than|instead of|than|unlike|beats|contrary to|as opposed to|in place of|other than|"
             "apart from|over|statt|anstatt|anstelle von|plutôt que|au lieu de|en lugar de|"
             "en vez de|em vez de|ao invés de|invece di|piuttosto che|вместо|而不是|而非|よりも"},
    {K_EXCEPT, "everything but|all but|all options other than|options other than|choices other than|"
               "all options but|any option but|every option but|every option except|everything except|"
               "all except|except|excepting|anything except|außer|sauf|excepto|exceto|tranne|кроме|除了|"
               "以外"},
    {K_BUT, "but|rather|but rather|instead|sondern|aber|mais|sino|pero|mas|mas sim|ma|ma bensì|bensì|а|"
            "но|而是|但|但是"},
    {K_AND, "and|\\land|\\wedge|\\cap|und|et|y|e|и|和|与|與|及|以及|と|및|와|과|as well as|along with|"
            "together with|plus|sowie|ainsi que|así como|bem como|nonché|&|"
            "dan|và|ve|oraz|och|และ|और|"
            "but also|\\&"},
    {K_OR, "or|\\lor|\\vee|\\cup|through|thru|oder|ou|o|или|либо|或|或者|还是|または|もしくは|か|でも|"
           "또는|혹은|이나|거나|and/or|vs|vs.|"
           "atau|hoặc|veya|ya da|lub|albo|eller|หรือ|या|أو|"
           "versus|"
           "나|이나"},
    {K_BOTH, "both|either|entweder|beide|sowohl|soit|les deux|ambas|ambos|o bien|tanto|ambas as|"
             "entrambe|sia|оба|обе|либо|两者|兩者|全部|都是|両方|둘 다|모두|between|zwischen|entre|tra|"
             "между|equally"},
    {K_HEDGE, "could|might|may|maybe|perhaps|possibly|possible|plausible|tempting|torn|unsure|undecided|"
              "uncertain|thought|suspect|can't decide|cannot decide|can't tell|cannot tell|don't know|"
              "do not know|not sure|toss-up|hesitat*|tentatively|vielleicht|möglicherweise|könnte|"
              "eventuell|peut-être|pourrait|quizás|quizá|tal vez|podría|talvez|poderia|forse|potrebbe|"
              "возможно|может быть|наверно|可能|也许|也許|或许|或許|无法确定|不确定|不知道|かもしれ*|"
              "かもしれません|かもしれない|おそらくは|아마|수도 있|"
              "people|students|many|some say|some would|some might|others say|one might|one may|"
              "you might|friend|textbook|mungkin|có thể|belki|może|kanske|शायद|ربما|"
              "partly|partially|half|almost|nearly|tempted|about to|was going to|would mean|"
              "would imply|would suggest|would indicate|would have|pode ser|puede ser|peut être"},
    {K_SEEMS, "seems|seem|looks|look|looks like|seems like|appears|appear|seems to be|appears to be|"
              "looks to be|scheint|semble|parece|sembra|кажется"},
    {K_TOO, "so is|so are|as is|as are|so does|as does|and so is|and so are"},
    {K_PLACE, "figure|fig|fig.|table|equation|eq.|section|part|step|appendix|chapter|panel|graph|page|"
              "point|group|class|type|vitamin|plan|compound|hepatitis|player|person|team|column|row|"
              "grade|level|phase|stage|sample|curve|case|scheme|reaction|event|box"},
    {K_WOULD, "would|would be|first"},
    {K_IF,
     "think about|start with|starting with|begin with|turn to|re-read|reread|"
     "test|testing|go through|work through|look "
     "into|if|check|consider|examine|evaluate|compare|comparing|analyze|analyse|look at|looking at|"
     "discuss|whether|unless|suppose|supposing|assume|assuming|assumed|let|wenn|falls|ob|si|"
     "supongamos|caso|если|ли|如果|若|假设|假設|是否|もし|なら|만약|"
     "first,|firstly|first option|next|next,|next up|next is|moving on|move on|turning to|turn now to|"
     "on to|now option|now, option|now choice|now the option|let me verify|let's verify|to verify|verify "
     "option|"
     "verifying|see|as in|recall|still need|have yet|remains to|what about|how about|betrachte*|"
     "prüfe*|zuerst|examinons|considérons|regardons|d'abord|veamos|consideremos|analicemos|vejamos|"
     "analisemos|"
     "consideriamo|рассмотрим|проверим|сначала|先看|来看|看看|先考虑|考虑选项|分析选项|先分析|检查选项|まず|"
     "を考え|を検討|먼저|살펴|"
     "i considered|we considered|"
     "let's compute|let me compute|let's calculate|let me calculate|we need to|"
     "need to check|often|sometimes|usually|"
     "second,|secondly|third,|thirdly|fourth,|let me see|primero|erstens|primeiro|"
     "innanzitutto"},
    {K_SO, "so|that is,|that is to say|i.e.|i.e.,|namely|viz.|つまり|すなわち|だから|thus|hence|"
           "therefore|consequently|accordingly|ergo|yeah|ok|okay|by elimination|by exclusion|"
           "par élimination|por eliminación|por eliminação|per esclusione|durch ausschluss|"
           "методом исключения|排除法|消去法|in summary|overall|in short|in conclusion|to conclude|"
           "all in all|finally|ultimately|conclusively|by process of elimination|in the end|->|=>|-->|"
           "==>|∴|⟹|⟶|➜|➡|➔|⇨|\\rightarrow|\\Rightarrow|\\therefore|\\implies|\\to|daher|somit|folglich|"
           "deshalb|demnach|damit|donc|ainsi|par conséquent|por lo tanto|por tanto|entonces|así que|"
           "luego|en conclusión|portanto|logo|assim|então|por isso|quindi|dunque|perciò|pertanto|"
           "следовательно|поэтому|значит|итак|таким образом|因此|所以|于是|因而|综上|綜上|综上所述|"
           "よって|したがって|従って|ゆえに|따라서|그러므로|그래서|결국|"
           "jadi|vậy|Vậy|do đó|Do đó|vì vậy|Vì vậy|bu nedenle|zatem|więc|dus|alltså|इसलिए|لذلك|"
           "also ist"},
    {K_THINK, "think|believe|say|said|claim|conclude|points to|point to|pointing to|down to|"
              "corresponds to|correspond to|matches option|agrees with|agree with|consistent with|"
              "in agreement with|mark|tick|nehme|dirais|diría|diria|direi|matching|supports|suggests|"
              "indicates|favors|favours|find|see that|we see|i "
              "see|meant|means|mean|shows|implies|know|argue|sure|glaube|"
              "denke|dass|pense|crois|creo|pienso|acho|creio|penso|credo|думаю|что|считаю|认为|認為|"
              "觉得|생각|"
              "closest to|nearest to|confirms|"
              "corresponding to|leads to|leading to|stated in|as stated in"},
    {K_BREAK, "because|since|as it|as the|as this|as they|for the|given|which|who|where|when|while|"
              "whereas|though|although|even though|even if|due to|thanks to|with|via|per|after|before|"
              "once|weil|denn|da|während|parce que|car|puisque|tandis que|porque|ya que|pues|puesto que|"
              "mientras|pois|já que|enquanto|perché|poiché|mentre|потому что|так как|поскольку|因为|"
              "因為|由于|なぜなら|ので|から|왜냐하면|때문|"
              "karena|vì|çünkü|ponieważ|omdat|eftersom|"
              "as shown|as above|as expected|as required|as computed|as found"},
    {K_FIX, "now|wait|oh|actually|correction|sorry|oops|hmm|on second thought|"
            "on second thoughts|on reflection|correcting|"
            "edit|nein|moment|doch|korrektur|en fait|pardon|corrección|correção|perdón|"
            "aliás|anzi|correzione|нет|стоп|поправка|точнее|不对，|等等|更正|いや|訂正|待って|아니,|정정"},
    {K_OWN, "scratch that|strike that|i take that back|i was wrong|i was mistaken|my mistake|my bad|"
            "i made a mistake|i made an error|made a mistake|made an error|i miscalculated|i misread|"
            "let me reconsider|let me rethink|let me redo|i need to reconsider|i must reconsider|"
            "i should reconsider|i have to reconsider|我错了|我弄错了|我算错了|me equivoqué|"
            "je me suis trompé|ich habe mich geirrt|mi sbagliavo|me enganei|я ошибся|я ошиблась"},
    {K_REST, "others|the others|the other options|the other choices|other options|other choices|"
             "the rest|rest|everything else|the other three|other three|remaining options|"
             "remaining choices|the other answers|the remaining ones|alles andere|die anderen|"
             "les autres|las demás|los demás|las otras|as outras|as demais|le altre|остальные|其他|"
             "其他选项|其余|その他|ほか|나머지|다른"},
    {K_BOX, "\\boxed|\\fbox|\\framebox|"
            "boxed"},
    {K_CHECK, "yes|✓|✔|✅|☑|☑️|✔️|🗸|👍|[x]|\\checkmark|√|◯|〇"},
    {K_CROSS, "✗|✘|❌|☒|✖|✕|✖️|❎|[ ]|×"},
    {K_OTHER, "使得|获得|取得|对于|对应|相对|绝对|反对|对象|对称|反应|为了|作为|成为|不同|不变|不断|"
              "和谐|选手|答题|回答|时候|可能性|没有关系|いない|少ない|問題|が高い"},
    {K_ITIS, "this is|that is|the false statement is|the incorrect statement is|the untrue statement is|"
             "the statement that is not true is|the statement that is false is|"
             "the statement that is incorrect is|the statement which is false is|"
             "the statement which is not true is|the one that does not fit is|the exception is|"
             "the odd one out is|the false one is|the incorrect one is"},
    {K_LEAVE, "the exception|the odd one out|the false statement|the incorrect statement"},
    {K_EXCEPT, "with the exception of|exception of"},
    {K_STOP, "।|۔"},
    {K_LIGHT, "\\quad|\\qquad|\\ |～|~"},
    {K_IS, "←|<-|<--|⟵"},
    {K_DASH, "=|:="},
    {K_COLON, "...|…"},
};
/* clang-format on */

/* Does the entry stand at the start of the text? Returns its length in the text. */
static size_t entry_at(struct span text, const char *word, size_t n)
{
    int is_stem = n > 1 && word[n - 1] == '*';
    n -= (size_t)is_stem;
    if (n > text.n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (ascii_lower(text.s[i]) != ascii_lower(word[i]))
            return 0;
    unsigned char last = (unsigned char)word[n - 1], first = (unsigned char)word[0];
    if (is_stem)
        while (span_is_word(text, n))
            n++;
    else if ((ascii_is_letter((char)last) || first < 0xe2) && last != '\'' && last != '.' && last != '|' &&
             (ascii_is_letter((char)last) || last >= 0x80) &&
             (span_is_word(text, n) ||
              (n + 1 < text.n && text.s[n] == '\'' && ascii_is_letter(text.s[n + 1]))))
        return 0;
    return n;
}

/* The index, made at first use: it is the same for all texts, and takes longer than a short text. */
enum { ENTRIES_MAX = 4096 };
static struct choice_entry entries[ENTRIES_MAX];
static struct choice_lexicon words_by_byte = {.entries = entries};
static once_flag is_made = ONCE_FLAG_INIT;

/* The class of a text of n bytes, which is not empty. */
static size_t class_of(const char *s, size_t n)
{
    size_t second = n > 1 ? (unsigned char)ascii_lower(s[1]) & 31 : CHOICE_ONE_BYTE;
    return (unsigned char)ascii_lower(s[0]) * (size_t)CHOICE_SECONDS + second;
}

/* The third byte that all texts have in which the entry stands, or 0. */
static char third_of(const char *word, size_t n)
{
    return n > 2 && !(n == 3 && word[2] == '*') ? ascii_lower(word[2]) : 0;
}

static void make_index(void)
{
    enum { CLASSES = 256 * CHOICE_SECONDS };
    static unsigned short at[CLASSES];
    struct choice_lexicon *l = &words_by_byte;
    size_t n = 0;
    /* first how many entries are of each class, then the entries in that order */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < sizeof lexicon / sizeof *lexicon; k++)
            for (const char *w = lexicon[k].words; w;) {
                const char *bar = strchr(w, '|');
                size_t length = bar ? (size_t)(bar - w) : strlen(w), class = class_of(w, length);
                if (pass)
                    entries[at[class]] =
                        (struct choice_entry){w, (unsigned)length, third_of(w, length), lexicon[k].kind};
                at[class]++;
                n += !pass;
                w = bar ? bar + 1 : NULL;
            }
        if (n > ENTRIES_MAX)
            abort(); /* a longer list needs a larger table */
        for (size_t c = 0; c < CLASSES && !pass; c++) {
            l->start[c + 1] = (unsigned short)(l->start[c] + at[c]);
            at[c] = l->start[c];
        }
    }
}

const struct choice_lexicon *choice_lexicon(void)
{
    call_once(&is_made, make_index);
    return &words_by_byte;
}

enum choice_kind choice_word(const struct choice_lexicon *l, struct span text, size_t *length)
{
    enum choice_kind kind = K_OTHER;
    *length = 0;
    if (!text.n)
        return kind;
    char third = text.n > 2 ? ascii_lower(text.s[2]) : 0;
    size_t classes[] = {class_of(text.s, text.n), class_of(text.s, 1)};
    for (int c = 0; c < 1 + (text.n > 1); c++)
        for (size_t k = l->start[classes[c]]; k < l->start[classes[c] + 1]; k++) {
            if (l->entries[k].third && l->entries[k].third != third)
                continue;
            size_t got = entry_at(text, l->entries[k].word, l->entries[k].length);
            if (got > *length) {
                *length = got;
                kind = l->entries[k].kind;
            }
        }
    return kind;
}
