/* The words and the filler text of the task ruler, all written for it. */
#include <assert.h>
#include <string.h>

#include "evalcore/base/prompt_fill.h"
#include "tasks/ruler_gen.h"

/* ---- words, where RULER takes lists from a Python package: adjectives and nouns for keys such as
 * "gentle-harbour", and all of them for lists of words. No word occurs twice. */

const char *const ruler_adjectives[] = {
    "able",     "amber",    "ample",   "ancient",  "angry",    "arctic",  "awake",    "bald",     "bitter",
    "bland",    "blind",    "blue",    "blunt",    "bold",     "brave",   "brief",    "bright",   "brisk",
    "broad",    "broken",   "brown",   "busy",     "calm",     "candid",  "careful",  "cheap",    "chief",
    "civil",    "clean",    "clear",   "clever",   "cloudy",   "clumsy",  "coarse",   "cold",     "common",
    "compact",  "cosy",     "crisp",   "crooked",  "cruel",    "curious", "curly",    "daily",    "damp",
    "dark",     "dear",     "deep",    "dense",    "dim",      "distant", "dizzy",    "double",   "dry",
    "dull",     "dusty",    "eager",   "early",    "earnest",  "easy",    "elegant",  "empty",    "equal",
    "exact",    "faint",    "fair",    "famous",   "fancy",    "fast",    "fatal",    "feeble",   "fertile",
    "fierce",   "final",    "firm",    "flat",     "flexible", "fluent",  "foggy",    "foreign",  "fragile",
    "free",     "frequent", "fresh",   "friendly", "frozen",   "full",    "funny",    "generous", "gentle",
    "giant",    "glad",     "gloomy",  "golden",   "graceful", "grand",   "grateful", "grave",    "great",
    "green",    "grey",     "gritty",  "grumpy",   "handy",    "happy",   "hard",     "harsh",    "hasty",
    "hazy",     "healthy",  "heavy",   "helpful",  "hidden",   "hollow",  "honest",   "hostile",  "huge",
    "humble",   "hungry",   "icy",     "ideal",    "idle",     "jolly",   "keen",     "kind",     "large",
    "late",     "lazy",     "lean",    "legal",    "level",    "light",   "little",   "lively",   "local",
    "lonely",   "long",     "loose",   "loud",     "low",      "loyal",   "lucky",    "magnetic", "marine",
    "massive",  "mellow",   "merry",   "mild",     "misty",    "modern",  "modest",   "moist",    "muddy",
    "mute",     "narrow",   "native",  "neat",     "nervous",  "nimble",  "noble",    "noisy",    "northern",
    "novel",    "odd",      "old",     "orange",   "oval",     "pale",    "patient",  "perfect",  "plain",
    "pleasant", "plump",    "polite",  "poor",     "popular",  "precise", "pretty",   "prompt",   "proud",
    "pure",     "purple",   "quaint",  "quick",    "quiet",    "rapid",   "rare",     "raw",      "ready",
    "red",      "regal",    "remote",  "rich",     "rigid",    "ripe",    "robust",   "rocky",    "rough",
    "round",    "royal",    "rude",    "rural",    "rusty",    "sacred",  "sad",      "safe",     "salty",
    "sandy",    "secret",   "serious", "shallow",  "sharp",    "shiny",   "short",    "shy",      "silent",
    "silky",    "silver",   "simple",  "sincere",  "sleepy",   "slender", "slim",     "slippery", "slow",
    "small",    "smooth",   "sober",   "soft",     "solar",    "solid",   "sour",     "spare",    "spicy",
    "steady",   "steep",    "sticky",  "stiff",    "still",    "stormy",  "strict",   "strong",   "sturdy",
    "subtle",   "sudden",   "sunny",   "super",    "sweet",    "swift",   "tall",     "tame",     "tart",
    "tender",   "thick",    "thin",    "thirsty",  "tidy",     "tight",   "timid",    "tiny",     "tired",
    "tough",    "tranquil", "true",    "typical",  "ugly",     "urban",   "usual",    "vague",    "vast",
    "vivid",    "vocal",    "warm",    "wary",     "weak",     "wealthy", "weary",    "western",  "wet",
    "white",    "wide",     "wild",    "windy",    "wise",     "witty",   "wooden",   "worthy",   "yellow",
    "young",    "zealous",
};
const int ruler_n_adjectives = sizeof ruler_adjectives / sizeof *ruler_adjectives;

const char *const ruler_nouns[] = {
    "acorn",    "actor",    "airport",  "album",    "alley",    "almond",   "anchor",   "ankle",
    "antler",   "apple",    "apricot",  "apron",    "archer",   "arrow",    "artist",   "attic",
    "author",   "autumn",   "axle",     "baker",    "balcony",  "ballad",   "bamboo",   "banana",
    "banjo",    "banner",   "barley",   "barn",     "barrel",   "basin",    "basket",   "battery",
    "beach",    "beacon",   "beagle",   "beaver",   "bell",     "bench",    "berry",    "bicycle",
    "biscuit",  "blanket",  "blossom",  "boat",     "bonnet",   "book",     "bottle",   "bowl",
    "bracelet", "branch",   "bread",    "brick",    "bridge",   "broom",    "brother",  "bucket",
    "buckle",   "buffalo",  "builder",  "bumper",   "bundle",   "butcher",  "butter",   "button",
    "cabbage",  "cabin",    "cable",    "cactus",   "camel",    "camera",   "canal",    "candle",
    "candy",    "canoe",    "canvas",   "captain",  "caravan",  "cargo",    "carpet",   "carrot",
    "castle",   "cavern",   "cedar",    "cellar",   "cello",    "cement",   "chain",    "chair",
    "chapel",   "chariot",  "cheese",   "cherry",   "chest",    "chestnut", "chicken",  "chimney",
    "chorus",   "cinema",   "circus",   "citizen",  "clarinet", "cliff",    "clock",    "cloud",
    "clover",   "coach",    "cobbler",  "cocoa",    "coffee",   "collar",   "colony",   "comet",
    "compass",  "concert",  "copper",   "coral",    "cork",     "cottage",  "cotton",   "cousin",
    "cradle",   "crane",    "crater",   "crayon",   "cricket",  "crocus",   "crown",    "crystal",
    "cupboard", "curtain",  "cushion",  "dagger",   "dairy",    "dancer",   "daughter", "dentist",
    "desert",   "diamond",  "diary",    "dinner",   "doctor",   "dolphin",  "donkey",   "doorway",
    "dragon",   "drawer",   "drum",     "eagle",    "easel",    "echo",     "editor",   "eel",
    "elbow",    "elm",      "emerald",  "engine",   "envelope", "falcon",   "farmer",   "feather",
    "fence",    "fern",     "ferry",    "fiddle",   "field",    "finger",   "fisher",   "flag",
    "flame",    "flannel",  "flask",    "flour",    "flute",    "fog",      "forest",   "fork",
    "fossil",   "fountain", "fox",      "friend",   "frog",     "furnace",  "gallery",  "garage",
    "garden",   "garlic",   "garnet",   "gate",     "gazelle",  "geyser",   "ginger",   "giraffe",
    "glacier",  "glass",    "glove",    "goat",     "goblet",   "goose",    "gown",     "granite",
    "grape",    "grass",    "gravel",   "guitar",   "hamlet",   "hammer",   "hammock",  "hamster",
    "harbour",  "harp",     "harvest",  "hawk",     "hazel",    "heater",   "hedge",    "heron",
    "hill",     "hinge",    "honey",    "hood",     "hook",     "hornet",   "horse",    "hotel",
    "house",    "hunter",   "hut",      "iceberg",  "infant",   "ink",      "insect",   "island",
    "ivory",    "ivy",      "jacket",   "jaguar",   "jam",      "jar",      "jasmine",  "jelly",
    "jewel",    "judge",    "jug",      "juice",    "jungle",   "kennel",   "kettle",   "kitchen",
    "kite",     "kitten",   "knight",   "ladder",   "ladle",    "lagoon",   "lake",     "lantern",
    "lapel",    "lawyer",   "leaf",     "lemon",    "leopard",  "letter",   "library",  "lilac",
    "lily",     "lime",     "linen",    "lion",     "lizard",   "lobster",  "locket",   "lodge",
    "lotus",    "lumber",   "magnet",   "mallet",   "mango",    "mantle",   "maple",    "marble",
    "market",   "marsh",    "mask",     "meadow",   "melon",    "mermaid",  "metal",    "meteor",
    "midwife",  "mill",     "miller",   "mirror",   "mitten",   "monkey",   "moon",     "mosaic",
    "moss",     "mother",   "motor",    "mountain", "mouse",    "museum",   "mustard",  "napkin",
    "necklace", "needle",   "nephew",   "nest",     "nettle",   "nickel",   "night",    "noodle",
    "nurse",    "nutmeg",   "oak",      "oar",      "oasis",    "oat",      "ocean",    "olive",
    "onion",    "opal",     "orchard",  "orchid",   "organ",    "otter",    "oven",     "owl",
    "oyster",   "paddle",   "painter",  "palace",   "panda",    "panther",  "paper",    "parade",
    "parrot",   "parsley",  "pasta",    "pastry",   "path",     "peach",    "peacock",  "peanut",
    "pebble",   "pelican",  "pencil",   "penguin",  "pepper",   "perch",    "piano",    "pickle",
    "picnic",   "pigeon",   "pillow",   "pilot",    "pine",     "pirate",   "planet",   "plank",
    "plaster",  "plate",    "plough",   "plum",     "pocket",   "poem",     "poet",     "pond",
    "pony",     "poppy",    "porch",    "port",     "potato",   "potter",   "powder",   "prairie",
    "prince",   "printer",  "pudding",  "pulley",   "pump",     "pumpkin",  "puppy",    "purse",
    "puzzle",   "pyramid",  "quarry",   "quartz",   "queen",    "quill",    "quilt",    "rabbit",
    "radio",    "radish",   "raft",     "railway",  "rainbow",  "raisin",   "ramp",     "raven",
    "razor",    "recipe",   "reed",     "ribbon",   "rice",     "river",    "road",     "robin",
    "rocket",   "roof",     "rope",     "rose",     "ruby",     "rudder",   "saddle",   "sailor",
    "salad",    "salmon",   "sandal",   "sapphire", "satchel",  "saucer",   "sausage",  "scarf",
    "school",   "scooter",  "sculptor", "seal",     "seed",     "shawl",    "sheep",    "shelf",
    "shell",    "shepherd", "shield",   "ship",     "shovel",   "shrimp",   "singer",   "sister",
    "sketch",   "slipper",  "snail",    "snow",     "soap",     "sofa",     "soldier",  "soup",
    "spade",    "sparrow",  "spider",   "spinach",  "spire",    "sponge",   "spoon",    "squash",
    "squirrel", "stable",   "stadium",  "stair",    "station",  "statue",   "stool",    "stork",
    "story",    "stove",    "stream",   "street",   "student",  "sugar",    "suit",     "sultan",
    "summer",   "summit",   "sunset",   "surgeon",  "swallow",  "swamp",    "swan",     "sweater",
    "table",    "tailor",   "teacher",  "teapot",   "temple",   "tent",     "theatre",  "thimble",
    "thistle",  "thread",   "throne",   "thumb",    "thunder",  "ticket",   "tiger",    "timber",
    "toast",    "toffee",   "tomato",   "tortoise", "towel",    "tower",    "town",     "tractor",
    "train",    "trumpet",  "trunk",    "tulip",    "tunnel",   "turnip",   "turtle",   "uncle",
    "valley",   "vase",     "velvet",   "vessel",   "village",  "vineyard", "violet",   "violin",
    "voyage",   "waffle",   "wagon",    "waiter",   "walnut",   "walrus",   "warden",   "water",
    "weasel",   "weaver",   "wheat",    "wheel",    "whistle",  "widow",    "willow",   "window",
    "winter",   "wizard",   "wolf",     "wool",     "workshop", "wren",     "yacht",    "yard",
    "yoghurt",  "zebra",    "zipper",
};
const int ruler_n_nouns = sizeof ruler_nouns / sizeof *ruler_nouns;

const char *const ruler_verbs[] = {
    "accept",  "admire",   "adopt",    "advise",   "agree",     "announce",   "appear",  "applaud",
    "arrange", "arrive",   "assist",   "attach",   "attend",    "avoid",      "bake",    "balance",
    "bathe",   "become",   "begin",    "behave",   "belong",    "borrow",     "bounce",  "breathe",
    "bring",   "build",    "carry",    "catch",    "celebrate", "chase",      "cheer",   "choose",
    "chop",    "climb",    "collect",  "combine",  "compare",   "complain",   "compose", "confess",
    "connect", "consider", "contain",  "continue", "cook",      "copy",       "correct", "cough",
    "count",   "cover",    "create",   "cross",    "decide",    "decorate",   "defend",  "deliver",
    "depend",  "describe", "destroy",  "dig",      "discover",  "discuss",    "divide",  "doubt",
    "draw",    "dream",    "drift",    "drink",    "eat",       "employ",     "enjoy",   "enter",
    "escape",  "examine",  "explain",  "explore",  "fetch",     "fill",       "find",    "finish",
    "float",   "fold",     "follow",   "forgive",  "fry",       "gather",     "gaze",    "give",
    "glide",   "grow",     "guess",    "hang",     "help",      "hesitate",   "hide",    "hurry",
    "imagine", "improve",  "include",  "inform",   "inspect",   "instruct",   "invent",  "invite",
    "join",    "juggle",   "kneel",    "knit",     "laugh",     "learn",      "lend",    "listen",
    "live",    "lose",     "manage",   "measure",  "mend",      "mix",        "move",    "multiply",
    "nod",     "notice",   "obey",     "observe",  "obtain",    "offer",      "operate", "paint",
    "pause",   "perform",  "permit",   "persuade", "pour",      "practise",   "praise",  "prefer",
    "prepare", "prevent",  "promise",  "protect",  "prove",     "publish",    "punish",  "push",
    "reach",   "realise",  "receive",  "refuse",   "rehearse",  "relax",      "remain",  "remember",
    "remind",  "repair",   "repeat",   "reply",    "rescue",    "retire",     "return",  "reveal",
    "ride",    "roast",    "scatter",  "scrub",    "seek",      "select",     "send",    "separate",
    "sew",     "shiver",   "shout",    "sing",     "sleep",     "smile",      "sneeze",  "sniff",
    "solve",   "speak",    "spread",   "squeeze",  "stare",     "stay",       "stir",    "stretch",
    "suggest", "supply",   "surprise", "surround", "suspect",   "swim",       "talk",    "teach",
    "thank",   "think",    "tremble",  "trust",    "try",       "understand", "unlock",  "untie",
    "vanish",  "visit",    "wait",     "walk",     "wander",    "warn",       "wash",    "weigh",
    "whisper", "wink",     "wonder",   "write",    "yawn",
};
const int ruler_n_verbs = sizeof ruler_verbs / sizeof *ruler_verbs;

/* ---- filler text, where RULER takes essays from the web: sentences drawn from the frames and ends below,
 * with words drawn for their gaps, so that a text of any length has no digits, no needles and hardly a
 * sentence twice. Each frame is used once before one is used again. */

static const char *const frames[] = {
    "In {season} the road to {town} is often closed because of the {weather}",
    "{person} kept a small shop near the {place} and sold {food} to anyone who passed",
    "Nobody in {town} could remember who had built the old {place}",
    "The {trade} said that good work takes longer than people expect",
    "Most of the houses by the {place} have low roofs and thick walls",
    "When the {weather} came, {person} closed the shutters and lit the stove",
    "A letter from {other} lay on the table for a week before anyone opened it",
    "The children liked to watch the {animal} from the bridge",
    "It is easier to learn a trade from the {trade} than from any book",
    "{person} and {other} met on a {day} and talked until the lamps went out",
    "There is a path behind the {place} that few visitors ever find",
    "The smell of fresh {food} drifted through the open windows",
    "Every {season} the whole village helps to mend the {place}",
    "{other} had promised to come back before the first {weather}",
    "The market in {town} opens early and closes when the last basket is empty",
    "What the {trade} could not repair was given to the children to play with",
    "An old story says that the {animal} was once the richest in the valley",
    "{person} wrote down the price of {food} in a notebook with a green cover",
    "The ferry to {town} waits for nobody, not even for the {trade}",
    "Some people prefer the {season}, when the fields are quiet and the days are slow",
    "The clock above the {place} has been five minutes late for as long as anyone can say",
    "{person} learned to bake from a grandmother who never measured anything",
    "Along the river the willows had grown so tall that they hid the {place}",
    "On a {day} the streets of {town} are empty until noon",
    "The {trade} carried a box of tools that weighed more than a child",
    "Nothing tastes better after a long walk than {food} and cold water",
    "{other} often asked why the {place} had two doors and no windows",
    "The {animal} slept in the shade while the carts rolled by",
    "A good map of the hills around {town} is hard to find",
    "{person} had never seen the sea, but could describe it as if it were next door",
    "During the long {season} the schoolroom was warmed by a single stove",
    "The roof of the {place} was mended with tiles of three different colours",
    "If the {weather} lasts, the harvest will have to wait another week",
    "The {trade} spoke slowly and chose every word with care",
    "{person} counted the steps from the {place} to the well and forgot the number at once",
    "The road climbs gently at first and then turns sharply towards {town}",
    "Those who sell {food} know the gossip of the valley better than the mayor",
    "{other} painted the same {place} again and again and was never satisfied",
    "The {animal} came every evening and stood at the gate as if it had been invited",
    "Tea was served in the garden, although the {weather} was already in the air",
    "The bridge at {town} was rebuilt with stones from the old {place}",
    "{person} believed that patience was mostly a matter of having something to read",
    "In the drawer there were buttons, string, and a dried flower from a distant {season}",
    "The {trade} and the baker shared a wall and very little else",
    "A cart loaded with {food} had stopped in the middle of the square",
    "By {day} the news had reached every kitchen in {town}",
    "{other} laughed at the idea, and then spent the whole night thinking about it",
    "The choir practised in the {place} because the echo made it sound larger",
    "The light in {season} makes even plain walls look beautiful",
    "Travellers who miss the coach to {town} usually sleep at the {place}",
    "{person} kept the {animal} out of the garden with a fence made of branches",
    "It was said that the {trade} could tell the hour by the colour of the sky",
    "The wind turned, and the smell of {food} was gone",
    "Old {other} knew which wells stayed clear after the {weather}",
    "The museum in {town} has one room for coins and another for hats",
    "The steps of the {place} are worn in the middle like old spoons",
    "{person} folded the newspaper and said that the world could wait until {day}",
    "A quarrel about a fence can outlive the people who began it",
    "The {trade} borrowed a ladder and returned it with one more rung",
    "Even in a bad {season} there was enough {food} for guests",
    "{other} had a habit of whistling whenever the conversation became serious",
    "The fog lifted slowly, and the {place} appeared piece by piece",
    "Near {town} the river is shallow enough to cross on foot",
    "The {animal} had left its tracks all the way to the barn",
    "People who live beside a {place} stop hearing its bell after a while",
    "{person} planted a row of pear trees on the day the {trade} moved away",
    "The inn serves {food} with a sauce that nobody has been able to copy",
    "No one hurried, because the {weather} had made hurrying useless",
    "{other} read the letter twice and put it back into its envelope",
    "The lamps along the {place} are lit by hand, one after the other",
    "A bench under the lime tree is the best place to wait for the {trade}",
    "On clear days the towers of {town} can be seen from the ridge",
    "The {season} fair brings jugglers, ribbons and far too much {food}",
    "{person} could name every bird in the hedge and most of the stones in the wall",
    "The door of the {place} sticks when the air is damp",
    "After the {weather} the whole valley smelled of earth and leaves",
    "The {trade} refused to sell the last one, whatever the price",
    "{other} drew a line in the dust to show where the old road had been",
    "The {animal} looked at the strangers and decided that they were harmless",
    "There are worse ways to spend a {day} than mending a chair",
    "The council of {town} argued for an hour about the colour of a door",
    "{person} owned three coats and wore the oldest one to the {place}",
    "Snow on the pass means that {food} will be dear until the {season}",
    "A long silence followed, broken only by the ticking of the clock",
    "The {trade} measured the window twice and cut the glass once",
    "{other} said that a house without books is like a {place} without people",
    "The stream behind {town} used to turn four mills and now turns none",
    "Whoever arrives first at the {place} makes the fire for the others",
    "The {weather} lasted until {day} and then stopped as if someone had closed a tap",
    "{person} gave the {animal} a name that was much too long for it",
    "The kitchen was full of people who had come only to taste the {food}",
    "In those years the post reached {town} once a week, if the river allowed it",
    "The {trade} hung a sign above the door, and the wind took it the same night",
    "{other} always carried a piece of chalk, in case a plan had to be explained",
    "The shortest way over the hill is not the easiest in {season}",
    "The garden behind the {place} belongs to nobody and is tended by everyone",
    "{person} waited until the {weather} had passed and then walked home without a lantern",
    "Good {food} and honest talk have ended more quarrels than the court",
    "The view from the {place} is worth the climb, even on a grey {day}",
    "The {animal} was the only one who did not mind the noise of the fair",
};
enum { N_FRAMES = RULER_FRAMES };
static_assert(sizeof frames / sizeof *frames == N_FRAMES, "ruler_text.h says how many frames there are");

static const char *const ends[] = {
    ".",
    ".",
    ".",
    ", or so {teller} used to say.",
    ", as {teller} once wrote to a friend.",
    ", and in {elsewhere} it was no different.",
    ", which surprised {teller} more than anyone.",
    ", though {teller} never believed it.",
    ", and {teller} was glad of it.",
    ", just as they tell it in {elsewhere}.",
    ", and nobody in {elsewhere} would have thought otherwise.",
    ", as the old people of {elsewhere} remember.",
};
enum { N_ENDS = sizeof ends / sizeof *ends };

enum { GAP_WORDS_MAX = 16 };
static const struct gap {
    const char *name;
    const char *words[GAP_WORDS_MAX + 1];
} gaps[] = {
    {"person",
     {"Agnes", "Bertram", "Clara", "Dorian", "Edith", "Florian", "Greta", "Henrik", "Ingrid", "Jasper",
      "Katrin", "Leopold", "Mathilde", "Nikolas", "Oswald", "Petra"}},
    {"other",
     {"Quentin", "Rosalind", "Stefan", "Thekla", "Ulrich", "Verena", "Wilma", "Xaver", "Yvette", "Zelda",
      "Albin", "Brigitta", "Casper", "Delia", "Emil", "Frida"}},
    {"town",
     {"Ashford", "Bellmoor", "Carrick", "Dunmere", "Eastwold", "Fenbury", "Glenrock", "Harrowby", "Inverlea",
      "Kestwick", "Lowmarsh", "Marlow", "Northam", "Oakhurst", "Penrith", "Rockley"}},
    {"trade",
     {"baker", "blacksmith", "bookbinder", "carpenter", "clockmaker", "cooper", "ferryman", "gardener",
      "glazier", "miller", "potter", "roofer", "saddler", "schoolteacher", "tailor", "weaver"}},
    {"season", {"spring", "summer", "autumn", "winter"}},
    {"weather", {"rain", "snow", "frost", "storm", "fog", "heat", "wind", "hail"}},
    {"food",
     {"bread", "soup", "apples", "cheese", "honey", "plums", "pies", "fish", "chestnuts", "pancakes",
      "pickles", "dumplings"}},
    {"animal", {"donkey", "heron", "goat", "fox", "stork", "cat", "mule", "otter", "owl", "sheepdog"}},
    {"place",
     {"mill", "chapel", "harbour", "library", "market hall", "quarry", "station", "town hall", "tower",
      "bakery", "lighthouse", "orchard", "school", "tannery", "theatre", "brewery"}},
    {"day", {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}},
    {"teller",
     {"Gisela", "Hubert", "Isolde", "Jakob", "Konrad", "Liese", "Moritz", "Nora", "Otto", "Paula", "Rainer",
      "Sabine", "Tobias", "Ursula", "Volker", "Winfried"}},
    {"elsewhere",
     {"Alderney", "Brookfield", "Coldwater", "Dunwich", "Elmstead", "Farnley", "Greystone", "Hillcote",
      "Ironbridge", "Kingsley", "Larkhill", "Millbrook", "Netherby", "Overton", "Pinewood", "Redcliff"}},
};
enum { N_GAPS = sizeof gaps / sizeof *gaps };

void ruler_essay_init(struct ruler_essay *x, uint64_t key, uint64_t stream)
{
    *x = (struct ruler_essay){0};
    rng_init(&x->draws, key, stream);
}

static int next_frame(struct ruler_essay *x)
{
    if (!x->left) {
        for (int i = 0; i < N_FRAMES; i++)
            x->deck[i] = i;
        x->left = N_FRAMES;
    }
    int at = (int)rng_below(&x->draws, (uint32_t)x->left), frame = x->deck[at];
    x->deck[at] = x->deck[--x->left];
    return frame;
}

void ruler_essay_next(struct ruler_essay *x, struct str *out)
{
    const char *frame = frames[next_frame(x)], *end = ends[rng_below(&x->draws, N_ENDS)];
    struct prompt_field fields[N_GAPS];
    for (int i = 0; i < N_GAPS; i++) {
        uint32_t n = 0;
        while (gaps[i].words[n])
            n++;
        const char *word = gaps[i].words[rng_below(&x->draws, n)];
        fields[i] = (struct prompt_field){gaps[i].name, word, strlen(word)};
    }
    prompt_fill(out, frame, fields, N_GAPS);
    prompt_fill(out, end, fields, N_GAPS);
}
